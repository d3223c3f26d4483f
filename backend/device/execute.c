/* Executes a run: launches in the memory of the values, time records of them, and ops that call
 * graphs. Each graph that is called has a run of its own inside the run of the main one, since no
 * graph calls itself. Its parameters are bound to the memory of the arguments; what it returns is
 * copied to the results. */
#include "backend/device/execute.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "backend/device/arguments.h"
#include "ir/analysis/modref.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"

enum {
    /* More records than these are dropped: 64 MiB. */
    MAX_RECORDS = (64 << 20) / sizeof(struct skrt_profile_record),
    IN_KERNELS = 128, /* on a core */
};

void device_profile_free(struct run_profile *profile)
{
    vec_free(&profile->launches);
    vec_free(&profile->events);
    vec_free(&profile->streams);
    arena_free(&profile->arena);
}

/* A buffer with room for `records`, and some more for each of `cores` that kernels may cause, as
 * far as the limit allows, to be freed; `*size` is its bytes. NULL where there is no memory. */
static struct skrt_profile *device_profile_buffer(uint64_t records, uint64_t cores, uint64_t *size)
{
    records += IN_KERNELS * cores;
    records = records < MAX_RECORDS ? records : MAX_RECORDS;
    *size = sizeof(struct skrt_profile) + records * sizeof(struct skrt_profile_record);
    return mem_try_calloc(1, *size);
}

static uint64_t now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

/* Nanoseconds since this was called first: the run has begun. */
static uint64_t device_profile_now(struct run_profile *profile)
{
    if (profile->start == 0)
        profile->start = now();
    return now() - profile->start;
}

static const char *copy(struct run_profile *profile, const char *text)
{
    return arena_strndup(&profile->arena, text, strlen(text));
}

static uint32_t find_stream(struct run_profile *profile, const char *name)
{
    for (uint32_t i = 0; i < profile->streams.count; i++)
        if (strcmp(profile->streams.at[i], name) == 0)
            return i;
    vec_push(&profile->streams, copy(profile, name));
    return profile->streams.count - 1;
}

static void device_profile_add(struct run_profile *profile, const struct run_profile_launch *launch,
                               const char *stream, const struct skrt_profile *buffer,
                               uint64_t begin)
{
    const char **names = arena_alloc(&profile->arena, (launch->n_ops + 1) * sizeof *names);
    for (uint32_t i = 0; i < launch->n_ops; i++)
        names[i] = copy(profile, launch->ops[i]);
    vec_push(&profile->launches,
             (struct run_profile_launch){.name = copy(profile, launch->name),
                                         .ops = names,
                                         .n_ops = launch->n_ops,
                                         .alone = launch->alone,
                                         .stream = find_stream(profile, stream)});
    for (uint64_t i = 0; i < buffer->count; i++) {
        struct run_profile_event event = {profile->launches.count - 1, buffer->records[i]};
        event.record.ns += begin;
        vec_push(&profile->events, event);
    }
    profile->dropped += buffer->dropped;
}

/* ------------------------------------------------------------------------------ runs ---- */

static struct device_run *new_run(struct device_run *root, const struct graph *graph)
{
    struct device_run *run = mem_calloc(1, sizeof *run);
    run->root = root;
    run->target = root->target;
    run->options = root->options;
    run->module = root->module;
    run->graph = graph;
    run->diags = root->diags;
    return run;
}

/* Each graph once; its run stands in the list before those of graphs that it calls. */
void calls_open(struct device_run *run)
{
    bool *seen = mem_calloc(run->module->graphs.count, sizeof *seen);
    vec_push(&run->runs, run);
    seen[graph_id(run->module, run->graph)] = true;
    for (uint32_t i = 0; i < run->runs.count; i++) {
        struct call_walk walk = {0, 0};
        uint32_t called;
        while ((called = graph_next_called(run->module, run->runs.at[i]->graph, &walk)) != NONE) {
            if (seen[called])
                continue;
            seen[called] = true;
            vec_push(&run->runs, new_run(run, &run->module->graphs.at[called]));
        }
    }
    mem_free(seen);
}

static struct device_run *run_of(const struct device_run *run, const struct graph *graph)
{
    const struct device_run *root = run->root;
    uint32_t i = 0;
    while (root->runs.at[i]->graph != graph)
        i++;
    return root->runs.at[i];
}

struct device_call *calls_make(struct device_run *run, const struct op *op)
{
    struct device_call *call = arena_alloc(&run->arena, sizeof *call);
    enum call_kind kind = op_call_kind(op);
    struct callee callee;
    *call = (struct device_call){.op = op,
                                 .kind = kind,
                                 .n_args = op->operands.count - call_info(kind)->lead,
                                 .n_results = op_tensor_results(run->module, run->graph, op)};
    while (op_callee(run->module, op, call->n_callees, &callee))
        call->n_callees++;
    call->callees = arena_alloc(&run->arena, (call->n_callees + 1) * sizeof *call->callees);
    for (uint32_t i = 0; i < call->n_callees; i++)
        call->callees[i] = run_of(run, op_called_graph(run->module, op, i));
    call->sizes = arena_alloc(&run->arena, (call->n_results + 1) * sizeof *call->sizes);
    call->args = arena_alloc(&run->arena, (call->n_args + 1) * sizeof *call->args);
    call->next = arena_alloc(&run->arena, (call->n_args + 1) * sizeof *call->next);
    vec_push(&run->calls, call);
    for (uint32_t i = 0; i < call->n_results; i++)
        if (!device_value_size(run->module, run->graph->values.at[op->results.first + i].type,
                               locate_op(run->module, op, OP_RESULT, i), &call->sizes[i],
                               run->diags))
            return NULL;
    return call;
}

void calls_free(struct device_run *run)
{
    for (uint32_t i = 0; i < run->calls.count; i++) {
        struct device_call *call = run->calls.at[i];
        for (uint32_t b = 0; b < call->buffers.count; b++)
            mem_free(call->buffers.at[b].at);
        vec_free(&call->buffers);
    }
    vec_free(&run->calls);
    mem_free(run->values);
    mem_free(run->of_params);
}

/* ---------------------------------------------------------------------------- memory ---- */

/* The memory of each variable that has a name: that of the first graph that has it. */
static void bind_variables(struct device_run *run, const struct memories *memories,
                           void **of_variable)
{
    const struct graph *graph = run->graph;
    void **of_memory = mem_calloc(graph->values.count, sizeof *of_memory);
    bool any = false;
    for (uint32_t i = 0; i < graph->ops.count; i++) {
        const struct op *op = &graph->ops.at[i];
        uint32_t name = op_shared_name(run->module, op);
        if (name == NONE || op->results.count == 0)
            continue;
        if (!of_variable[name])
            of_variable[name] = run->values[op->results.first];
        of_memory[memory_of(memories, op->results.first)] = of_variable[name];
        any = true;
    }
    for (uint32_t i = 0; any && i < graph->values.count; i++)
        if (of_memory[memory_of(memories, i)])
            run->values[i] = of_memory[memory_of(memories, i)];
    mem_free(of_memory);
}

static void bind_run(struct device_run *run, void *const *values, void **of_variable)
{
    uint32_t n = run->graph->values.count;
    struct memories memories;
    memories_init(&memories, run->module, run->graph);
    if (!run->values) {
        run->values = mem_calloc(n, sizeof *run->values);
        run->of_params = mem_calloc(n, sizeof *run->of_params);
    }
    for (uint32_t i = 0; i < n; i++) {
        uint32_t memory = memory_of(&memories, i);
        run->values[i] = values[i];
        run->of_params[i] = memory < run->graph->n_params ? memory : NONE;
    }
    bind_variables(run, &memories, of_variable);
    memories_free(&memories);
}

/* Before each execution: the memory of values, by graph and value. Variables of one name are one
 * memory. */
static void calls_bind(struct device_run *run, void *const *const *values)
{
    void **of_variable = mem_calloc(run->module->names.count, sizeof *of_variable);
    for (uint32_t i = 0; i < run->runs.count; i++)
        bind_run(run->runs.at[i], values[graph_id(run->module, run->runs.at[i]->graph)],
                 of_variable);
    mem_free(of_variable);
}

/* Runs the launches of a graph in the memory that the run's values have, up to one that does not
 * end well; a race is no end. Adds to `seconds` what they took. */
static enum skrt_status execute_graph(struct device_run *run, double *seconds);

static bool ends(enum skrt_status status)
{
    return status != SKRT_OK && status != SKRT_RACE;
}

/* ---------------------------------------------------------------------------- launches ---- */

/* Makes the buffer of time records, where they are wanted, and sets where they go: the slots of an
 * entry, and what the runtime is told. */
static void *begin_profile(struct device_run *run, const struct device_launch *launch,
                           struct skrt_launch *skrt)
{
    bool slots = launch->profile_slot != NONE;
    if (!run->root->base.record || !run->options.profile || (launch->block != NONE && !slots))
        return NULL;
    assert(!slots || launch->profile_slot + 2 <= launch->count);
    if (slots && run->target->open_records)
        return run->target->open_records(run, launch, skrt->params + launch->profile_slot);
    struct skrt_profile *buffer =
        device_profile_buffer(launch->records, device_launch_cores(launch), &skrt->records_size);
    skrt->records = buffer;
    if (slots) {
        skrt->params[launch->profile_slot] = (uintptr_t)buffer;
        skrt->params[launch->profile_slot + 1] = skrt->records_size;
    }
    return buffer;
}

/* The call that a core was blocked in or before, as the op that it is for. */
static void find_places(const struct device_launch *launch, struct skrt_profile *records)
{
    for (uint64_t i = 0; launch->block != NONE && i < records->count; i++) {
        struct skrt_profile_record *record = &records->records[i];
        const struct device_calls *calls = &launch->calls[record->type];
        if (record->kind > SKRT_PROFILE_WAIT)
            record->index = record->index < calls->count ? calls->at[record->index] : NONE;
    }
}

/* Takes the records of a launch that has begun, `start` being when its queue did. */
static void end_profile(struct device_run *run, const struct device_launch *launch, void *buffer,
                        const struct skrt_result *result, uint64_t start)
{
    struct run_profile *profile = &run->root->profile;
    uint64_t begin = start + (uint64_t)(result->begin * 1e9);
    struct skrt_profile *records = buffer;
    const struct run_profile_launch named = {.name = launch->skrt.name,
                                             .ops = launch->ops,
                                             .n_ops = launch->n_ops,
                                             .alone = launch->block == NONE};
    if (buffer && launch->block != NONE && run->target->take_records)
        records = run->target->take_records(run, launch, buffer, profile->start + begin);
    else if (buffer)
        find_places(launch, records);
    if (records && result->status != SKRT_STOPPED)
        device_profile_add(profile, &named, run->stream_names.at[launch->stream], records, begin);
    if (records != buffer)
        mem_free(records);
    mem_free(buffer);
}

/* Clears the traces of launches. Room for them is made now: after a timeout nothing is
 * allocated. */
static void begin_traces(struct device_run *run, uint32_t first, uint32_t count)
{
    uint32_t lines = 0;
    for (uint32_t i = first; i < first + count; i++) {
        const struct device_launch *launch = &run->launches.at[i];
        if (!launch->trace)
            continue;
        memset(launch->trace, 0, launch->trace_lines * sizeof *launch->trace);
        lines += launch->trace_lines + 1;
    }
    if (run->options.trace)
        vec_reserve(&run->root->trace, lines);
}

/* Takes the traces of a launch that has begun. */
static void end_trace(struct device_run *run, const struct device_launch *launch,
                      const struct skrt_result *result)
{
    _Static_assert(sizeof(struct skrt_trace_name) == sizeof(struct skrt_trace_line), "one size");
    struct skrt_trace_name name = {.magic = SKRT_TRACE_NAME};
    if (!launch->trace || !run->options.trace || result->status == SKRT_STOPPED)
        return;
    struct skrt_trace_line *to = run->root->trace.at + run->root->trace.count;
    size_t size = strlen(launch->skrt.name);
    memcpy(name.name, launch->skrt.name, size < sizeof name.name ? size : sizeof name.name);
    memcpy(to, &name, sizeof name);
    memcpy(to + 1, launch->trace, launch->trace_lines * sizeof *to);
    run->root->trace.count += launch->trace_lines + 1;
}

static void add_report(struct device_run *run, struct text *text)
{
    text_char(text, '\0');
    vec_reserve(&run->root->reports, 1);
    char *report = strdup(text->at); /* freed like those of the runtime */
    if (!report)
        mem_exhausted();
    vec_push(&run->root->reports, report);
    text_free(text);
}

/* Whether the entry has cleared all locks: the next launch would not wait for its own tiling. A
 * report says which is left. */
static bool locks_cleared(struct device_run *run, const struct device_launch *launch)
{
    for (uint32_t i = 0; i < launch->tilings.count; i++) {
        if (!*run->tilings.at[launch->tilings.first + i]->lock)
            continue;
        struct text text = {NULL, 0, 0};
        text_printf(&text,
                    "%s: launch %s has not reset the lock of its dynamic op %u, counted from 0\n",
                    skrt_status_text(SKRT_LEFT_SET), launch->skrt.name, i);
        add_report(run, &text);
        return false;
    }
    return true;
}

/* Whether kernels have left what they are given as it was: else what followed is wrong. */
static bool tables_are_kept(struct device_run *run, const struct device_launch *launch)
{
    struct text text = {NULL, 0, 0};
    text_printf(&text, "%s: launch %s: a kernel has changed ", skrt_status_text(SKRT_MISUSE),
                launch->skrt.name);
    bool changed = tables_find_changed(run, launch, &text);
    if (changed)
        add_report(run, &text);
    text_free(&text);
    return !changed;
}

/* --------------------------------------------------------------------- several launches ---- */

/* Launches that run at once, and what comes of each. */
struct batch {
    uint32_t first; /* in run.launches */
    struct skrt_queue queue;
    struct skrt_queued *launches;
    struct skrt_result *results;
    void **profiles;    /* areas for time records, or NULL */
    struct arena arena; /* of all that */
};

static const struct skrt_signal *make_signals(struct device_run *run, struct batch *batch,
                                              struct range events)
{
    struct skrt_signal *signals = arena_alloc(&batch->arena, (events.count + 1) * sizeof *signals);
    for (uint32_t i = 0; i < events.count; i++) {
        uint32_t name = run->events.at[events.first + i];
        signals[i] = (struct skrt_signal){arguments_event(run, name),
                                          name_text(run->module, name, &batch->arena)};
    }
    return signals;
}

/* A launch alone waits for nothing: all before it have ended. */
static void add_to_batch(struct device_run *run, struct batch *batch, uint32_t i, bool alone)
{
    const struct device_launch *launch = &run->launches.at[batch->first + i];
    struct skrt_queued *queued = &batch->launches[i];
    *queued = (struct skrt_queued){.launch = launch->skrt,
                                   .stream = launch->stream,
                                   .n_waits = alone ? 0 : launch->waits.count,
                                   .n_sends = launch->sends.count,
                                   .waits = make_signals(run, batch, launch->waits),
                                   .sends = make_signals(run, batch, launch->sends)};
    queued->launch.params = run->params + launch->first;
    queued->launch.n_params = launch->count;
    batch->profiles[i] = begin_profile(run, launch, &queued->launch);
    /* The entry waits for tilings. */
    for (uint32_t t = 0; t < launch->tilings.count; t++)
        *run->tilings.at[launch->tilings.first + t]->lock = launch->skrt.entry != NULL;
}

static void batch_init(struct batch *batch, struct device_run *run, uint32_t first, uint32_t count)
{
    *batch = (struct batch){.first = first};
    batch->launches = arena_alloc(&batch->arena, count * sizeof *batch->launches);
    batch->results = arena_alloc(&batch->arena, count * sizeof *batch->results);
    batch->profiles = arena_alloc(&batch->arena, count * sizeof *batch->profiles);
    for (uint32_t i = 0; i < count; i++)
        add_to_batch(run, batch, i, count == 1);
    begin_traces(run, first, count);
    batch->queue = (struct skrt_queue){.n_launches = count,
                                       .n_streams = run->streams.count,
                                       .launches = batch->launches,
                                       .streams = run->stream_names.at,
                                       .turns = run->options.turns};
}

/* Keeps what is said of the launches; returns the status of all. */
static enum skrt_status end_batch(struct device_run *run, struct batch *batch,
                                  enum skrt_status status, uint64_t start)
{
    for (uint32_t i = 0; i < batch->queue.n_launches; i++) {
        const struct device_launch *launch = &run->launches.at[batch->first + i];
        const struct skrt_result *result = &batch->results[i];
        run->root->base.launches += result->status != SKRT_STOPPED;
        if (result->report)
            vec_push(&run->root->reports, result->report);
        end_profile(run, launch, batch->profiles[i], result, start);
        end_trace(run, launch, result);
        if (!tables_are_kept(run, launch) && !ends(status))
            status = SKRT_MISUSE;
        if (result->status == SKRT_OK && !locks_cleared(run, launch))
            status = status == SKRT_OK || status == SKRT_RACE ? SKRT_LEFT_SET : status;
    }
    arena_free(&batch->arena);
    return status;
}

static enum skrt_status launch_batch(struct device_run *run, struct batch *batch)
{
    void (*tell)(uint32_t count, const char *first) = run->options.launches_run;
    if (tell)
        tell(batch->queue.n_launches, run->launches.at[batch->first].skrt.name);
    enum skrt_status status = skrt_launch_all(run->root->device, &batch->queue, batch->results);
    bool exhausted = status == SKRT_INVALID && errno == ENOMEM;
    if (tell)
        tell(0, NULL);
    if (exhausted)
        mem_exhausted();
    return status;
}

/* Runs launches at once, or one. */
static enum skrt_status execute_launches(struct device_run *run, uint32_t first, uint32_t count,
                                         double *seconds)
{
    struct batch batch;
    batch_init(&batch, run, first, count);
    uint64_t start = device_profile_now(&run->root->profile);
    /* After a timeout nothing is allocated: cores may still use what exhausted memory frees. */
    vec_reserve(&run->root->reports, count);
    enum skrt_status status = launch_batch(run, &batch);
    *seconds += (double)(device_profile_now(&run->root->profile) - start) * 1e-9;
    if (status != SKRT_TIMEOUT)
        return end_batch(run, &batch, status, start);
    for (uint32_t i = 0; i < count; i++) {
        if (batch.results[i].report)
            vec_push(&run->root->reports, batch.results[i].report);
        end_trace(run, &run->launches.at[first + i], &batch.results[i]);
    }
    return status;
}

/* ----------------------------------------------------------------------- single values ---- */

static unsigned value_bits(const struct device_run *run, uint32_t value)
{
    return dtype_info(run->module->types.at[run->graph->values.at[value].type].dtype)->bits;
}

static enum dtype_class value_class(const struct device_run *run, uint32_t value)
{
    return dtype_info(run->module->types.at[run->graph->values.at[value].type].dtype)->class;
}

static uint64_t read_bits(const struct device_run *run, uint32_t value)
{
    uint64_t bits = 0;
    unsigned count = value_bits(run, value);
    memcpy(&bits, run->values[value], (count + 7) / 8);
    return count < 64 ? bits & ((UINT64_C(1) << count) - 1) : bits;
}

/* Anything but 0 is true, and -0 is 0. */
static bool is_true(const struct device_run *run, uint32_t value)
{
    uint64_t bits = read_bits(run, value);
    if (value_class(run, value) == CLASS_FLOAT)
        bits &= ~(UINT64_C(1) << (value_bits(run, value) - 1));
    return bits != 0;
}

static int64_t read_integer(const struct device_run *run, uint32_t value)
{
    unsigned unused = 64 - value_bits(run, value);
    uint64_t bits = read_bits(run, value);
    if (value_class(run, value) == CLASS_SINT)
        return (int64_t)(bits << unused) >> unused;
    return bits > INT64_MAX ? INT64_MAX : (int64_t)bits;
}

/* ------------------------------------------------------------------------------ calls ---- */

static enum skrt_status worse(enum skrt_status a, enum skrt_status b)
{
    return b == SKRT_OK ? a : b;
}

/* `own` is the memory of the first parameter where the op gives it, or NULL. */
static enum skrt_status call_graph(struct device_run *callee, void *own, void *const *args,
                                   double *seconds)
{
    uint32_t first = own ? 1 : 0;
    for (uint32_t i = 0; i < callee->graph->values.count; i++) {
        uint32_t param = callee->of_params[i];
        if (param != NONE)
            callee->values[i] = param < first ? own : args[param - first];
    }
    return execute_graph(callee, seconds);
}

static void take_args(const struct device_run *run, struct device_call *call)
{
    const uint32_t *operands = op_operands(run->graph, call->op);
    for (uint32_t i = 0; i < call->n_args; i++)
        call->args[i] = run->values[operands[call_info(call->kind)->lead + i]];
}

static void copy_result(const struct device_run *run, const struct device_call *call, uint32_t n,
                        const void *from)
{
    void *to = run->values[call->op->results.first + n];
    if (to != from)
        memcpy(to, from, call->sizes[n]);
}

static enum skrt_status call_once(struct device_run *run, struct device_call *call, uint32_t n,
                                  double *seconds)
{
    struct device_run *callee = call->callees[n];
    take_args(run, call);
    enum skrt_status status = call_graph(callee, NULL, call->args, seconds);
    for (uint32_t i = 0; !ends(status) && i < call->n_results; i++)
        copy_result(run, call, i, callee->values[callee->graph->returns.at[i]]);
    return status;
}

/* ------------------------------------------------------------------------------ loops ---- */

static bool is_passed(const struct device_call *call, const void *memory)
{
    for (uint32_t i = 0; i < call->n_args; i++)
        if (call->next[i] == memory)
            return true;
    return false;
}

/* Memory for a value that is passed the next time, and that nothing else is passed in. */
static void *free_buffer(struct device_call *call, uint64_t size)
{
    for (uint32_t i = 0; i < call->buffers.count; i++)
        if (call->buffers.at[i].size >= size && !is_passed(call, call->buffers.at[i].at))
            return call->buffers.at[i].at;
    vec_push(&call->buffers, (struct buffer){mem_calloc(size / 64 + 1, 64), size});
    return call->buffers.at[call->buffers.count - 1].at;
}

/* What the body returns is passed the next time: a parameter's memory itself, else a copy, since
 * the body writes its own values anew. What is returned in two places is one memory in both. */
static void pass_on(struct device_call *call, const struct device_run *body)
{
    const struct vec_u32 *returns = &body->graph->returns;
    for (uint32_t i = 0; i < call->n_args; i++) {
        uint32_t param = body->of_params[returns->at[i]];
        bool stays = param != NONE && param >= call_info(call->kind)->own;
        call->next[i] = stays ? body->values[returns->at[i]] : NULL;
    }
    for (uint32_t i = 0; i < call->n_args; i++) {
        if (call->next[i])
            continue;
        void *copy = free_buffer(call, call->sizes[i]), *from = body->values[returns->at[i]];
        memcpy(copy, from, call->sizes[i]);
        for (uint32_t j = i; j < call->n_args; j++)
            if (!call->next[j] && body->values[returns->at[j]] == from)
                call->next[j] = copy;
    }
    memcpy(call->args, call->next, call->n_args * sizeof *call->args);
}

static void end_loop(const struct device_run *run, const struct device_call *call)
{
    for (uint32_t i = 0; i < call->n_results; i++)
        copy_result(run, call, i, call->args[i]);
}

static enum skrt_status fail(struct device_run *run, const struct device_call *call,
                             const char *text)
{
    struct device_run *root = run->root;
    root->cause = arena_printf(&root->arena, "%s of graph '@%.*s' %s",
                               op_text(run->module, run->graph, call->op, &root->arena),
                               NAME(run->module, run->graph->name), text);
    return SKRT_MISUSE;
}

static enum skrt_status call_while(struct device_run *run, struct device_call *call,
                                   double *seconds)
{
    struct device_run *cond = call->callees[0], *body = call->callees[1];
    uint64_t most = run->options.max_iterations;
    enum skrt_status status = SKRT_OK;
    take_args(run, call);
    for (uint64_t n = 0;; n++) {
        status = worse(status, call_graph(cond, NULL, call->args, seconds));
        if (ends(status))
            return status;
        if (!is_true(cond, cond->graph->returns.at[0]))
            break;
        if (most && n == most)
            return fail(run, call,
                        arena_printf(&run->root->arena,
                                     "has called its body %llu times: --max-iterations allows no "
                                     "more",
                                     (unsigned long long)most));
        status = worse(status, call_graph(body, NULL, call->args, seconds));
        if (ends(status))
            return status;
        pass_on(call, body);
    }
    end_loop(run, call);
    return status;
}

static enum skrt_status call_for(struct device_run *run, struct device_call *call, double *seconds)
{
    const uint32_t *operands = op_operands(run->graph, call->op);
    int64_t i = read_integer(run, operands[0]), limit = read_integer(run, operands[1]);
    int64_t step = read_integer(run, operands[2]);
    enum skrt_status status = SKRT_OK;
    if (step == 0)
        return fail(run, call, "counts by 0, so that it would not end");
    take_args(run, call);
    while (step > 0 ? i < limit : i > limit) {
        call->counter = (uint64_t)i;
        status = worse(status, call_graph(call->callees[0], &call->counter, call->args, seconds));
        if (ends(status))
            return status;
        pass_on(call, call->callees[0]);
        if (__builtin_add_overflow(i, step, &i))
            break;
    }
    end_loop(run, call);
    return status;
}

static enum skrt_status execute_call(struct device_run *run, struct device_call *call,
                                     double *seconds)
{
    uint32_t value = call->op->operands.count ? op_operands(run->graph, call->op)[0] : NONE;
    int64_t n = call->kind == CALL_CASE ? read_integer(run, value) : 0;
    switch (call->kind) {
    case CALL_IF: return call_once(run, call, is_true(run, value) ? 0 : 1, seconds);
    case CALL_CASE:
        n = n < 0 || n >= call->n_callees ? call->n_callees - 1 : n;
        return call_once(run, call, (uint32_t)n, seconds);
    case CALL_WHILE: return call_while(run, call, seconds);
    case CALL_FOR: return call_for(run, call, seconds);
    default: return call_once(run, call, 0, seconds);
    }
}

/* ----------------------------------------------------------------------------- graphs ---- */

/* The words of events, which an earlier call may have left set. */
static void clear_events(struct device_run *run)
{
    for (uint32_t i = 0; i < run->events.count; i++)
        *arguments_event(run, run->events.at[i]) = 0;
    for (uint32_t i = 0; i < run->arguments.count; i++) {
        const struct device_argument *argument = &run->arguments.at[i];
        if (argument->slot.kind == SLOT_SEND || argument->slot.kind == SLOT_RECV)
            *(uint64_t *)(uintptr_t)argument->word = 0;
    }
}

/* How many launches from one on run at once: up to a call, where there are several streams. */
static uint32_t batch_size(const struct device_run *run, uint32_t first)
{
    uint32_t end = first + 1;
    if (!run->options.fused || run->options.serial || run->streams.count < 2)
        return 1;
    while (end < run->launches.count && !run->launches.at[end].call)
        end++;
    return end - first;
}

static enum skrt_status execute_graph(struct device_run *run, double *seconds)
{
    const struct run_watch *watch = run->options.fused ? NULL : run->options.watch;
    enum skrt_status outcome = SKRT_OK;
    run->root->base.ran[graph_id(run->module, run->graph)] = 1;
    clear_events(run);
    tables_fill(run);
    for (uint32_t i = 0, n = 1; i < run->launches.count && !ends(outcome); i += n) {
        const struct device_launch *launch = &run->launches.at[i];
        n = launch->call ? 1 : batch_size(run, i);
        if (watch && watch->op_begins)
            watch->op_begins(watch->context, run->graph, launch->op, run->values);
        enum skrt_status status = launch->call ? execute_call(run, launch->call, seconds)
                                               : execute_launches(run, i, n, seconds);
        for (uint32_t e = 0; launch->call && e < launch->sends.count; e++)
            *arguments_event(run, run->events.at[launch->sends.first + e]) = 1;
        outcome = worse(outcome, status);
        if (watch && !ends(status))
            watch->op_ended(watch->context, run->graph, launch->op, run->values);
    }
    return outcome;
}

void device_run_execute(struct backend_run *base, void *const *const *values,
                        struct run_result *result)
{
    struct device_run *run = (struct device_run *)base;
    bool record = base->record && run->options.profile;
    /* What the last execution has left goes. */
    run->base.launches = 0;
    memset(run->base.ran, 0, run->module->graphs.count);
    run->trace.count = 0;
    device_profile_free(&run->profile);
    run->profile = (struct run_profile){.start = 0};
    *result = (struct run_result){.profile = record ? &run->profile : NULL};
    calls_bind(run, values);
    enum skrt_status status = execute_graph(run, &result->seconds);
    result->trace = run->trace.at;
    result->trace_size = run->trace.count * sizeof *run->trace.at;
    if (status != SKRT_OK) {
        result->end = status == SKRT_TIMEOUT ? RUN_STUCK : RUN_FAILED;
        result->cause = run->cause ? run->cause : skrt_status_text(status);
        result->reports = (const char *const *)run->reports.at;
        result->n_reports = run->reports.count;
    }
}
