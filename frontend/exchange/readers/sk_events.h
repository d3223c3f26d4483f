/* Who notifies whom among the tasks of streams. */
#ifndef FRONTEND_EXCHANGE_READERS_SK_EVENTS_H
#define FRONTEND_EXCHANGE_READERS_SK_EVENTS_H

#include "frontend/exchange/readers/sk_tasks.h"

/* Finds the senders of each wait. An event that is used again pairs in the order of its uses. */
void sk_events_pair(struct sk_tasks *tasks);
/* Puts into `recv` the events of other kernels that the waits before a kernel come to. A notify
 * sends what is complete before it: the kernel there, and what the waits between the two wait for.
 * Its event gets a name. */
void sk_events_receive(struct sk_tasks *tasks, uint32_t kernel);
/* Says which events there are whose waits nothing stands behind. */
void sk_events_drop_idle(struct sk_tasks *tasks);

#endif
