#include "frontend/commands/run_values.h"
#include "frontend/commands/run_defaults.h"
#include "frontend/commands/run_other.h"
#include "ir/syntax/locate.h"

bool run_values_name(struct runner *runner)
{
    return named_values_parse(&runner->inputs, runner->invocation, "input", runner->module,
                              runner->graph, NAMED_PARAMETER) &&
           named_values_parse(&runner->outputs, runner->invocation, "output", runner->module,
                              runner->graph, NAMED_VALUE);
}

void run_values_free(struct runner *runner)
{
    named_values_free(&runner->inputs);
    named_values_free(&runner->outputs);
}

/* ---------------------------------------------------------------------- what goes in ---- */

static enum exit_status report_given(const struct runner *runner, const struct graph *graph,
                                     uint32_t id, const char *error)
{
    diag_at(runner->diags, DIAG_contents, no_span, "input '%.*s': %s",
            NAME(runner->module, graph->values.at[id].name), error);
    return EXIT_INPUT;
}

/* At the contents that the graph has. */
static enum exit_status report_own(const struct runner *runner, const struct graph *graph,
                                   uint32_t id, const struct attr *attr, const char *error)
{
    diag_at(runner->diags, DIAG_contents, locate_token(runner->module, attr->loc),
            "input '%.*s': %s", NAME(runner->module, graph->values.at[id].name), error);
    return EXIT_INPUT;
}

/* The contents that the graph itself has for a value, or NULL. */
static const struct attr *own_contents(const struct runner *runner, const struct graph *graph,
                                       uint32_t id)
{
    uint32_t def = graph->values.at[id].def;
    return def < graph->ops.count ? op_contents_attr(runner->module, graph, &graph->ops.at[def])
                                  : NULL;
}

/* Where the contents come from that a value has before the graph runs. Several values may be one
 * memory: what is said for any of them counts over what is not, so it is written later. */
enum given_by { BY_SEED, BY_GRAPH, BY_OPTION, GIVEN_END };

static const char *option_of(const struct runner *runner, const struct graph *graph, uint32_t id)
{
    return graph == runner->graph ? named_values_find(&runner->inputs, id) : NULL;
}

static enum given_by given_by(const struct runner *runner, const struct graph *graph, uint32_t id)
{
    return option_of(runner, graph, id)      ? BY_OPTION
           : own_contents(runner, graph, id) ? BY_GRAPH
                                             : BY_SEED;
}

static bool fill_given(const struct runner *runner, struct storage *storage, uint32_t id,
                       enum given_by by, char *error, size_t error_size)
{
    const char *spec = option_of(runner, storage->graph, id);
    const struct attr *attr = own_contents(runner, storage->graph, id);
    if (by != given_by(runner, storage->graph, id))
        return true;
    if (by != BY_GRAPH)
        return storage_fill(storage, id, spec, runner->seed + id, error, error_size);
    struct contents contents = contents_read(runner->module, attr);
    return storage_fill_contents(storage, id, &contents, runner->lowered.session.places.source_dir,
                                 error, error_size);
}

/* Inputs of which nothing is said, from the first on that is filled, get numbers that the ops can
 * have which they feed. */
static void choose_defaults(const struct runner *runner, const struct storages *storages,
                            struct storage *storage, uint32_t first)
{
    const struct graph *graph = storage->graph;
    bool *marked = mem_calloc(graph->values.count, sizeof *marked);
    for (uint32_t i = first; i < graph->values.count; i++)
        if (value_is_given(runner->module, graph, i))
            marked[memory_of(&storage->memories, i)] = true;
    for (uint32_t i = first; i < graph->values.count; i++)
        if (value_is_given(runner->module, graph, i) && given_by(runner, graph, i) != BY_SEED)
            marked[memory_of(&storage->memories, i)] = false;
    run_defaults_choose(runner, storages, storage, marked);
    mem_free(marked);
}

/* By --input, else by the graph's contents, else at random, each by a seed of its own. */
static enum exit_status fill_graph(const struct runner *runner, const struct storages *storages,
                                   struct storage *storage)
{
    const struct graph *graph = storage->graph;
    uint32_t first = graph == runner->graph ? 0 : graph->n_params; /* which callers give */
    char error[512];
    for (int by = 0; by < GIVEN_END; by++)
        for (uint32_t i = first; i < graph->values.count; i++)
            if (value_is_given(runner->module, graph, i) &&
                !fill_given(runner, storage, i, (enum given_by)by, error, sizeof error))
                return by == BY_GRAPH
                           ? report_own(runner, graph, i, own_contents(runner, graph, i), error)
                           : report_given(runner, graph, i, error);
    choose_defaults(runner, storages, storage, first);
    return EXIT_DONE;
}

static enum exit_status fill_storages(const struct runner *runner, const struct storages *storages)
{
    enum exit_status status = EXIT_DONE;
    for (uint32_t i = 0; status == EXIT_DONE && i < storages->count; i++)
        if (storages->at[i].graph)
            status = fill_graph(runner, storages, &storages->at[i]);
    return status;
}

static bool init_storages(const struct runner *runner, struct storages *storages, unsigned copies)
{
    return storages_init(storages, runner->how, runner->module, runner->graph, copies,
                         runner->diags);
}

bool run_values_init(const struct runner *runner, struct storages *storages)
{
    return init_storages(runner, storages, 1);
}

/* Measuring is not worth the memory of a large graph: it may take half of the machine's. */
static void limit_repeat(struct outcomes *outcomes, unsigned copies)
{
    struct runner *runner = outcomes->at[0].runner;
    if (runner->repeat == REPEAT_AUTO &&
        !storage_has_room(storages_main(&outcomes->at[0].storages), 2 * copies))
        runner->repeat = 0;
}

enum exit_status run_values_fill(const struct outcome *outcome, const struct storages *storages)
{
    struct outcome to = {.runner = outcome->runner, .storages = *storages};
    struct outcome from = {.runner = outcome->given};
    enum exit_status status = fill_storages(outcome->runner, storages);
    if (!outcome->given || status != EXIT_DONE)
        return status;
    status = init_storages(from.runner, &from.storages, 1)
                 ? fill_storages(from.runner, &from.storages)
                 : EXIT_INPUT;
    if (status == EXIT_DONE)
        status = run_other_fill(&to, &from);
    storages_free(&from.storages);
    return status;
}

/* Ways that run one graph share theirs. */
static bool make_workplace(struct outcomes *outcomes, unsigned i)
{
    struct outcome *outcome = &outcomes->at[i];
    bool shared = outcome->runner == outcomes->at[0].runner;
    struct workplace *workplace = &outcomes->workplaces[shared ? 0 : i];
    if (outcomes->at[0].runner->repeat == 0)
        return true;
    outcome->workplace = workplace;
    if (workplace->storages.count)
        return true;
    if (!init_storages(outcome->runner, &workplace->storages, 1))
        return false;
    storages_copy_given(&workplace->storages, &outcome->storages);
    return true;
}

/* The storage of a way behind the first, with what the first is given. */
static enum exit_status make_further(struct outcome *outcome, const struct outcome *first)
{
    if (!init_storages(outcome->runner, &outcome->storages, 1))
        return EXIT_INPUT;
    if (outcome->runner == first->runner) {
        storages_copy_given(&outcome->storages, &first->storages);
        return EXIT_DONE;
    }
    outcome->given = first->runner;
    enum exit_status status = fill_storages(outcome->runner, &outcome->storages);
    return status == EXIT_DONE ? run_other_fill(outcome, first) : status;
}

enum exit_status run_values_make(struct outcomes *outcomes)
{
    struct outcome *first = &outcomes->at[0];
    unsigned copies = outcomes->count + 1;
    bool again = first->runner->repeat != 0 && first->runner->repeat != REPEAT_AUTO;
    if (!init_storages(first->runner, &first->storages, again ? copies : outcomes->count))
        return EXIT_INPUT;
    limit_repeat(outcomes, copies);
    enum exit_status status = fill_storages(first->runner, &first->storages);
    for (unsigned i = 1; status == EXIT_DONE && i < outcomes->count; i++)
        status = make_further(&outcomes->at[i], first);
    for (unsigned i = 0; status == EXIT_DONE && i < outcomes->count; i++)
        status = make_workplace(outcomes, i) ? EXIT_DONE : EXIT_INPUT;
    return status;
}

void run_values_keep(const struct outcome *outcome)
{
    if (outcome->workplace)
        restore_keep(&outcome->workplace->restore, &outcome->workplace->storages,
                     &outcome->storages);
}

void run_values_restore(const struct workplace *workplace)
{
    restore_inputs(&workplace->restore);
}

void run_values_release(struct outcomes *outcomes)
{
    for (unsigned i = 0; i < outcomes->count; i++)
        storages_free(&outcomes->at[i].storages);
    for (unsigned i = 0; i < MAX_OUTCOMES; i++) {
        storages_free(&outcomes->workplaces[i].storages);
        restore_free(&outcomes->workplaces[i].restore);
    }
}

/* --------------------------------------------------------------------- what comes out ---- */

static bool write_value(const struct storage *storage, struct named_value output, char *error,
                        size_t error_size)
{
    struct tensor tensor;
    if (!storage_take(storage, output.value, &tensor, error, error_size))
        return false;
    bool ok = tensor_write_npy(&tensor, output.text, error, error_size);
    tensor_free(&tensor);
    return ok;
}

static enum exit_status report_output(const struct runner *runner, uint32_t id, const char *error)
{
    diag_at(runner->diags, DIAG_file, no_span, "output '%.*s': %s",
            NAME(runner->module, runner->graph->values.at[id].name), error);
    return EXIT_INPUT;
}

void run_values_release_input(const struct runner *runner, const char *output)
{
    for (uint32_t i = 0; i < runner->inputs.count; i++)
        if (path_same(runner->inputs.at[i].text, output))
            file_release_input(output);
}

enum exit_status run_values_write(const struct runner *runner, const struct storage *storage)
{
    char error[512];
    enum exit_status status = EXIT_DONE;
    for (uint32_t i = 0; status == EXIT_DONE && i < runner->outputs.count; i++) {
        struct named_value output = runner->outputs.at[i];
        run_values_release_input(runner, output.text);
        if (!write_value(storage, output, error, sizeof error))
            status = report_output(runner, output.value, error);
    }
    return status;
}
