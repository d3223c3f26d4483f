/* The tasks of a model's streams, as the graph of the ahead-of-time super kernel has them. */
#ifndef FRONTEND_EXCHANGE_READERS_SK_TASKS_H
#define FRONTEND_EXCHANGE_READERS_SK_TASKS_H

#include "frontend/exchange/dump/dump.h"

enum sk_task_kind {
    TASK_KERNEL,
    TASK_OTHER,  /* of an engine that no super kernel has */
    TASK_MARKER, /* begins or ends a scope, and executes nothing */
    TASK_NOTIFY,
    TASK_WAIT,
    TASK_RESET,
    TASK_KINDS
};

struct sk_task {
    enum sk_task_kind kind;
    uint32_t loc;
    int64_t stream, place;  /* the stream's number, its place there */
    uint32_t type;          /* name id: what is executed */
    uint32_t scope;         /* name id, or NONE */
    uint32_t event;         /* name id of an event's number or address, or NONE */
    uint32_t core;          /* name id of what says the kernel type, or NONE */
    int64_t ratio[2];       /* AICs and AIVs per block; -1: not said */
    int64_t blocks, task;   /* -1: not said */
    bool marker, zero;      /* zero: what is written to memory is 0 */
    struct vec_u32 senders; /* of a wait: the tasks that notify it */
    uint32_t before;        /* of a notify: the kernel before it, by its index, or NONE */
    uint32_t first_wait;    /* of a notify: the first of the waits between them */
    uint32_t name;          /* of a notify: its event's in the graph, NONE without receiver */
    uint32_t stamp;         /* of a notify: who has looked at it last */
};

struct sk_tasks {
    struct dump *dump;
    struct module *module;
    VEC(struct sk_task) list; /* in the order of the streams and of their tasks */
    struct text options;      /* of all scopes */
    uint32_t n_events, stamp;
    struct vec_u32 recv; /* of the kernel at hand */
};

/* Reads the tasks, and the options, of the source of `dump`. */
bool sk_tasks_read(struct sk_tasks *tasks, struct dump *dump);
void sk_tasks_free(struct sk_tasks *tasks);

static inline bool sk_task_executes(const struct sk_task *task)
{
    return task->kind == TASK_KERNEL || task->kind == TASK_OTHER;
}

#endif
