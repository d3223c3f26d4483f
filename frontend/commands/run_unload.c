#include "frontend/commands/run_unload.h"
#include "frontend/cli/apart.h"
#include "frontend/commands/run_left.h"

/* The memory of a value that options name, in what the first run has left. */
static const struct guarded *memory_of_named(const struct outcome *outcome,
                                             const struct named_value *named)
{
    const struct storage *storage = &outcome->storages.at[named->graph];
    return &storage->guarded[memory_of(&storage->memories, named->value)];
}

/* Values whose contents leave the process. */
struct told {
    const struct named_values *lists[3];
    uint64_t *sums[3];
};

static void begin(struct told *told, const struct outcome *outcome)
{
    const struct runner *runner = outcome->runner;
    *told = (struct told){.lists = {&runner->outputs, &runner->printed, &runner->expected}};
    for (int list = 0; list < 3; list++) {
        told->sums[list] = mem_calloc(told->lists[list]->count + 1, sizeof *told->sums[list]);
        for (uint32_t i = 0; i < told->lists[list]->count; i++)
            told->sums[list][i] = guarded_sum(memory_of_named(outcome, &told->lists[list]->at[i]));
    }
}

static const struct named_value *find_changed(const struct told *told,
                                              const struct outcome *outcome)
{
    for (int list = 0; list < 3; list++)
        for (uint32_t i = 0; i < told->lists[list]->count; i++) {
            const struct named_value *named = &told->lists[list]->at[i];
            if (told->sums[list][i] != guarded_sum(memory_of_named(outcome, named)))
                return named;
        }
    return NULL;
}

static void end(struct told *told)
{
    for (int list = 0; list < 3; list++)
        mem_free(told->sums[list]);
}

static _Noreturn void leave(const struct runner *runner, const struct named_value *changed)
{
    const struct graph *graph = &runner->module->graphs.at[changed->graph];
    apart_tell(runner->invocation->err,
               "skirc: a destructor of kernels, or what they have left to 'atexit', has changed "
               "'%%%.*s', which the run has left\n",
               NAME(runner->module, graph->values.at[changed->value].name));
    apart_end_processes();
    apart_leave(EXIT_INPUT);
}

void run_unload(const struct outcomes *outcomes)
{
    const struct outcome *first = &outcomes->at[0];
    struct told told;
    run_left_check_signals(first->runner->invocation->err);
    begin(&told, first);
    for (unsigned i = 0; i < outcomes->count; i++)
        outcomes->at[i].runner->how->unload(outcomes->at[i].run);
    const struct named_value *changed = find_changed(&told, first);
    if (changed)
        leave(first->runner, changed);
    end(&told);
}
