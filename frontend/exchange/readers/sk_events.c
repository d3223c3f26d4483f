#include "frontend/exchange/readers/sk_events.h"

/* Of each notify: the kernel before it on its stream, and the waits behind that. */
static void look_back(struct sk_tasks *tasks)
{
    uint32_t kernel = NONE, wait = 0;
    for (uint32_t i = 0; i < tasks->list.count; i++) {
        struct sk_task *task = &tasks->list.at[i];
        if (i == 0 || task[-1].stream != task->stream) {
            kernel = NONE;
            wait = i;
        }
        task->before = kernel;
        task->first_wait = wait;
        if (sk_task_executes(task)) {
            kernel = i;
            wait = i + 1;
        }
    }
}

/* All tasks of a kind with one event, in the order of the tasks. */
struct uses {
    struct vec_u32 of[2]; /* notifies, waits */
};

static void pair_uses(struct sk_tasks *tasks, const struct uses *uses)
{
    const struct vec_u32 *sends = &uses->of[0], *waits = &uses->of[1];
    for (uint32_t i = 0; i < waits->count; i++) {
        struct sk_task *wait = &tasks->list.at[waits->at[i]];
        if (sends->count == 0)
            dump_drop(tasks->dump, wait->loc, "a wait for event %.*s, which no task sends",
                      NAME(tasks->module, wait->event));
        else if (sends->count == 1)
            vec_push(&wait->senders, sends->at[0]);
        else if (sends->count == waits->count)
            vec_push(&wait->senders, sends->at[i]);
        else
            dump_drop(tasks->dump, wait->loc,
                      "a wait for event %.*s, which is sent %u times: nothing says which is meant",
                      NAME(tasks->module, wait->event), sends->count);
    }
    if (waits->count == 0)
        dump_drop(tasks->dump, tasks->list.at[sends->at[0]].loc,
                  "event %.*s, for which no task waits",
                  NAME(tasks->module, tasks->list.at[sends->at[0]].event));
}

void sk_events_pair(struct sk_tasks *tasks)
{
    struct id_map index = {NULL, 0, 0};
    VEC(struct uses) uses = {NULL, 0, 0};
    look_back(tasks);
    for (uint32_t i = 0; i < tasks->list.count; i++) {
        const struct sk_task *task = &tasks->list.at[i];
        bool wait = task->kind == TASK_WAIT;
        if ((!wait && task->kind != TASK_NOTIFY) || task->event == NONE)
            continue;
        uint32_t *at = id_map_at(&index, task->event);
        if (*at == NONE) {
            *at = uses.count;
            vec_push(&uses, (struct uses){.of = {{NULL, 0, 0}, {NULL, 0, 0}}});
        }
        vec_push(&uses.at[*at].of[wait], i);
    }
    for (uint32_t i = 0; i < uses.count; i++) {
        pair_uses(tasks, &uses.at[i]);
        vec_free(&uses.at[i].of[0]);
        vec_free(&uses.at[i].of[1]);
    }
    vec_free(&uses);
    id_map_free(&index);
}

static void push_waits(struct sk_tasks *tasks, struct vec_u32 *stack, uint32_t first, uint32_t end)
{
    for (uint32_t i = first; i < end; i++) {
        const struct sk_task *wait = &tasks->list.at[i];
        for (uint32_t n = 0; wait->kind == TASK_WAIT && n < wait->senders.count; n++)
            vec_push(stack, wait->senders.at[n]);
    }
}

void sk_events_receive(struct sk_tasks *tasks, uint32_t kernel)
{
    struct vec_u32 stack = {NULL, 0, 0};
    tasks->recv.count = 0;
    tasks->stamp++;
    push_waits(tasks, &stack, tasks->list.at[kernel].first_wait, kernel);
    while (stack.count) {
        uint32_t at = stack.at[--stack.count];
        struct sk_task *notify = &tasks->list.at[at];
        if (notify->stamp == tasks->stamp)
            continue;
        notify->stamp = tasks->stamp;
        push_waits(tasks, &stack, notify->first_wait, at);
        bool own = notify->stream == tasks->list.at[kernel].stream && at < kernel;
        if (notify->before == NONE || own)
            continue;
        if (notify->name == NONE)
            notify->name = module_name_printf(tasks->module, "e%u", tasks->n_events++);
        vec_push(&tasks->recv, notify->name);
    }
    vec_free(&stack);
}

void sk_events_drop_idle(struct sk_tasks *tasks)
{
    struct vec_u32 sent = {NULL, 0, 0};
    for (uint32_t i = 0; i < tasks->list.count; i++)
        push_waits(tasks, &sent, i, i + 1);
    for (uint32_t i = 0; i < sent.count; i++) {
        struct sk_task *notify = &tasks->list.at[sent.at[i]];
        if (notify->stamp == 0)
            dump_drop(tasks->dump, notify->loc,
                      "event %.*s, behind whose waits nothing is executed",
                      NAME(tasks->module, notify->event));
        notify->stamp = 1;
    }
    vec_free(&sent);
}
