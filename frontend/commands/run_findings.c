#include "frontend/commands/run_findings.h"
#include "frontend/commands/run_operands.h"
#include "ir/memories.h"
#include "ir/syntax/locate.h"
#include "ir/syntax/spelling.h"

#include <string.h>

static struct span op_span(const struct findings *findings, const struct op *op)
{
    return locate_op(findings->runner->module, op, OP_TYPE_NAME, 0);
}

static void help_trust(struct findings *findings)
{
    diag_help(findings->runner->diags,
              "if that is as it should be, --trust-kernels does not look at what kernels write");
}

void findings_help_inplace(struct diags *diags)
{
    diag_help(diags, "an op that writes an operand says so: {inplace = [N]}, N being its place");
}

void findings_help_first(struct diags *diags, const char *call)
{
    size_t size = strcspn(call, "\n");
    if (size > 0)
        diag_help(diags, "first in %.*s", (int)size, call);
}

/* ------------------------------------------------------------------------ unwritten ---- */

/* The index of the first element that is not written. */
static void first_text(const struct findings *findings, const struct unwritten *unwritten,
                       char *text, size_t size)
{
    const struct module *module = findings->runner->module;
    uint32_t type = module->graphs.at[unwritten->graph].values.at[unwritten->value].type;
    uint32_t rank = module->types.at[type].rank,
             bits = dtype_info(module->types.at[type].dtype)->bits;
    uint64_t left = unwritten->first * (bits < 8 ? 8 / bits : 1);
    int64_t at[TENSOR_MAX_RANK];
    for (uint32_t i = rank; i-- > 0 && i < TENSOR_MAX_RANK;
         left /= (uint64_t)type_dims(module, type)[i])
        at[i] = (int64_t)(left % (uint64_t)type_dims(module, type)[i]);
    tensor_dims_text(at, rank, text, size);
}

/* Elements below a byte count by the byte. */
static const char *noun_of(const struct findings *findings, const struct value *value)
{
    unsigned bits = dtype_info(findings->runner->module->types.at[value->type].dtype)->bits;
    return bits < 8 ? "bytes" : "elements";
}

/* "writes none of the 8 elements of '%y', the first at [0]" */
static void unwritten_text(const struct findings *findings, const struct unwritten *unwritten,
                           const struct value *value, struct text *text)
{
    const struct intern_name *name = &findings->runner->module->names.names[value->name];
    unsigned long long count = unwritten->count, elements = unwritten->elements;
    char first[256];
    first_text(findings, unwritten, first, sizeof first);
    if (unwritten->trace == POISON_READ)
        text_printf(text,
                    "computes %llu of %llu elements of '%%%.*s' with what stands there before",
                    count, elements, SHOWN_NAME(name));
    else if (count == elements)
        text_printf(text, "writes none of the %llu %s of '%%%.*s'", elements,
                    noun_of(findings, value), SHOWN_NAME(name));
    else
        text_printf(text, "leaves %llu of %llu %s of '%%%.*s' unwritten", count, elements,
                    noun_of(findings, value), SHOWN_NAME(name));
    text_printf(text, ", the first at %s", first);
    text_char(text, '\0');
}

static void report_unwritten(struct findings *findings, const struct graph *graph,
                             const struct op *op, const struct unwritten *unwritten)
{
    struct arena scratch = {NULL, 0};
    struct text text = {NULL, 0, 0};
    unwritten_text(findings, unwritten, &graph->values.at[unwritten->value], &text);
    if (diag_at(findings->runner->diags, DIAG_wrong_kernel, op_span(findings, op),
                "the kernel of %s %s", op_text(findings->runner->module, graph, op, &scratch),
                text.at)) {
        if (unwritten->trace == POISON_READ)
            diag_help(findings->runner->diags,
                      "results are not cleared before the kernel runs; it has to write before it "
                      "reads");
        else
            help_trust(findings);
    }
    text_free(&text);
    arena_free(&scratch);
}

/* Whether the op reads what is not written, so that what it leaves may be a copy of that. */
static bool reads_tainted(const struct findings *findings, const struct graph *graph,
                          const struct op *op)
{
    uint32_t index = graph_id(findings->runner->module, graph);
    const struct memories *memories = &findings->second->at[index].memories;
    if (findings->tainted_graph && findings->tainted_graph != graph)
        return true;
    for (uint32_t i = 0; i < op->operands.count; i++)
        if (findings->tainted[index][memory_of(memories, op_operands(graph, op)[i])])
            return true;
    return false;
}

static bool find_trace(const struct findings *findings, uint32_t index, uint32_t id,
                       struct unwritten *unwritten)
{
    for (int trace = 0; trace < POISON_TRACES; trace++)
        if (poison_find(&findings->first->at[index], &findings->second->at[index], id,
                        (enum poison_trace)trace, unwritten))
            return true;
    return false;
}

/* What its kernel makes of that is not looked at. */
static bool is_misfed(const struct findings *findings, const struct op *op)
{
    for (uint32_t i = 0; i < findings->misfed.count; i++)
        if (findings->misfed.at[i] == op)
            return true;
    return false;
}

static void check_result(struct findings *findings, const struct graph *graph, const struct op *op,
                         uint32_t id, bool copies)
{
    uint32_t index = graph_id(findings->runner->module, graph);
    struct unwritten unwritten;
    if (!poison_is_for(findings->second, index, id) || findings->tainted[index][id] ||
        !find_trace(findings, index, id, &unwritten))
        return;
    findings->tainted[index][id] = 1;
    if (!findings->tainted_graph)
        findings->tainted_graph = graph;
    if (!copies && op->kernel != NONE && !is_misfed(findings, op))
        report_unwritten(findings, graph, op, &unwritten);
}

static void check_results(struct findings *findings, const struct graph *graph, const struct op *op)
{
    const struct module *module = findings->runner->module;
    const struct memories *memories = &findings->second->at[graph_id(module, graph)].memories;
    bool copies = reads_tainted(findings, graph, op);
    struct op_write write = {0};
    for (uint32_t i = 0; i < op->results.count; i++)
        check_result(findings, graph, op, op->results.first + i, copies);
    while (op_next_write(module, graph, op, &write))
        check_result(findings, graph, op, memory_of(memories, write.operand), copies);
}

/* --------------------------------------------------------------------------- beside ---- */

/* Where the first byte is: the number of its element or byte. */
static int64_t element_of(int64_t first, uint64_t item)
{
    return first < 0 ? -(int64_t)(((uint64_t)-first + item - 1) / item) : first / (int64_t)item;
}

static void report_beside(struct findings *findings, const struct graph *graph, const struct op *op,
                          const struct text *where)
{
    struct arena scratch = {NULL, 0};
    diag_at(findings->runner->diags, DIAG_wrong_kernel, op_span(findings, op),
            "the kernel of %s writes %.*s", op_text(findings->runner->module, graph, op, &scratch),
            (int)where->size, where->at);
    findings->found_beside = true;
    arena_free(&scratch);
}

/* "behind '%y', which has 6 elements: the first at 6, 4 bytes in all" */
static void value_text(const struct findings *findings, const struct storage *storage, uint32_t id,
                       int64_t first, uint64_t bytes, struct text *text)
{
    const struct module *module = findings->runner->module;
    const struct value *value = &storage->graph->values.at[id];
    unsigned bits = dtype_info(module->types.at[value->type].dtype)->bits;
    uint64_t item = bits < 8 ? 1 : bits / 8, elements = storage->guarded[id].size / item;
    text_printf(text, "%s '", first < 0 ? "before" : "behind");
    if (storage->graph != findings->runner->graph)
        text_printf(text, "@%.*s.", NAME(module, storage->graph->name));
    text_printf(text, "%%%.*s', which has %llu %s%s: the first at %lld, %llu byte%s in all",
                NAME(module, value->name), (unsigned long long)elements,
                bits < 8 ? "byte" : "element", elements == 1 ? "" : "s",
                (long long)element_of(first, item), (unsigned long long)bytes,
                bytes == 1 ? "" : "s");
}

static void check_memory(struct findings *findings, uint32_t at, uint32_t id,
                         const struct graph *graph, const struct op *op)
{
    const struct storage *storage = &findings->second->at[at];
    struct guarded *guarded = &storage->guarded[id];
    struct text text = {NULL, 0, 0};
    int64_t first;
    uint64_t bytes = guarded->at ? guarded_damage(guarded, &first) : 0;
    if (bytes == 0)
        return;
    value_text(findings, storage, id, first, bytes, &text);
    report_beside(findings, graph, op, &text);
    text_free(&text);
    guarded_repair(guarded);
}

/* Memories that were written beside before, and those of the op, which are the most likely. */
static void check_memories(struct findings *findings, const struct graph *graph,
                           const struct op *op)
{
    uint32_t index = graph_id(findings->runner->module, graph);
    const struct memories *memories = &findings->second->at[index].memories;
    for (uint32_t i = 0; i < findings->damaged.count; i++)
        check_memory(findings, findings->damaged.at[i].graph, findings->damaged.at[i].value, graph,
                     op);
    for (uint32_t i = 0; i < op->operands.count; i++)
        check_memory(findings, index, memory_of(memories, op_operands(graph, op)[i]), graph, op);
    for (uint32_t i = 0; i < op->results.count; i++)
        check_memory(findings, index, memory_of(memories, op->results.first + i), graph, op);
}

static void check_run(struct findings *findings, const struct graph *graph, const struct op *op)
{
    struct run_damage damage;
    while (findings->runner->how->damage(findings->run, &damage)) {
        struct text text = {NULL, 0, 0};
        text_printf(&text, "%s %s %s of %llu bytes: the first at byte %lld, %llu in all",
                    damage.first < 0 ? "before" : "behind",
                    damage.op == op ? "its" : "another op's", damage.what,
                    (unsigned long long)damage.size, (long long)damage.first,
                    (unsigned long long)damage.bytes);
        report_beside(findings, graph, op, &text);
        text_free(&text);
    }
}

/* --------------------------------------------------------------------------- inputs ---- */

static const struct storage *main_storage(const struct findings *findings)
{
    return storages_main(findings->second);
}

static void copy_changed_inputs(struct findings *findings)
{
    const struct storage *storage = main_storage(findings);
    uint32_t count = storage->graph->values.count;
    int64_t offset;
    findings->copies = mem_calloc(count, sizeof *findings->copies);
    for (uint32_t i = 0; i < count; i++) {
        if (!read_only_is_changed(findings->read_only, i) &&
            !read_only_is_written(findings->read_only, i, &offset))
            continue;
        findings->copies[i] = mem_calloc(storage->sizes[i] + 1, 1);
        memcpy(findings->copies[i], storage->data[i], storage->sizes[i]);
    }
}

static uint64_t element_size(const struct storage *storage, uint32_t id)
{
    unsigned bits =
        dtype_info(storage->module->types.at[storage->graph->values.at[id].type].dtype)->bits;
    return bits < 8 ? 1 : bits / 8;
}

/* Elements of which any byte is another. */
static uint64_t count_changed(const struct storage *storage, uint32_t id, const unsigned char *copy,
                              uint64_t *first)
{
    uint64_t item = element_size(storage, id), count = 0;
    const unsigned char *data = storage->data[id];
    for (uint64_t i = 0; i < storage->sizes[id] / item; i++)
        if (memcmp(data + i * item, copy + i * item, item) != 0 && count++ == 0)
            *first = i;
    return count;
}

/* "2 elements of '%x', which no op does, the first at [3]" */
static void written_text(const struct findings *findings, uint32_t id, uint64_t count,
                         uint64_t first, struct text *text)
{
    const struct storage *storage = main_storage(findings);
    const struct unwritten place = {
        .graph = graph_id(findings->runner->module, storage->graph), .value = id, .first = first};
    char index[256];
    first_text(findings, &place, index, sizeof index);
    if (count > 0)
        text_printf(text, "%llu element%s of ", (unsigned long long)count, count == 1 ? "" : "s");
    text_printf(text, "'%%%.*s', which no op does, %s %s",
                NAME(storage->module, storage->graph->values.at[id].name),
                count > 0 ? "the first at" : "and leaves there what it has, first at", index);
    text_char(text, '\0');
}

static bool ends_with(const char *text, size_t size, const char *end)
{
    size_t end_size = strlen(end);
    return size >= end_size && memcmp(text + size - end_size, end, end_size) == 0;
}

/* The call that did it first, as the graph ran; if that was another op's, which has other tensors,
 * as the op ran alone. */
static void help_call(const struct findings *findings, const struct graph *graph,
                      const struct op *op, uint32_t id)
{
    struct arena scratch = {NULL, 0};
    const char *call = read_only_call(findings->read_only, id);
    size_t size = strcspn(call, "\n");
    const char *own = op_call_text(findings->runner->module, graph, op, &scratch);
    if (!ends_with(call, size, own + strcspn(own, "(")))
        call = read_only_call(findings->watched, id);
    findings_help_first(findings->runner->diags, call);
    arena_free(&scratch);
}

/* Calls of the graph's run; no op does it alone. */
static void help_calls(const struct findings *findings)
{
    for (uint32_t i = 0; i < main_storage(findings)->graph->values.count; i++) {
        const char *call = read_only_call(findings->read_only, i);
        if (*call)
            diag_help(
                findings->runner->diags, "it is '%%%.*s', first in %.*s",
                NAME(findings->runner->module, main_storage(findings)->graph->values.at[i].name),
                (int)strcspn(call, "\n"), call);
    }
}

static void check_input(struct findings *findings, const struct graph *graph, const struct op *op,
                        uint32_t id)
{
    const struct storage *storage = main_storage(findings);
    struct arena scratch = {NULL, 0};
    struct text text = {NULL, 0, 0};
    uint64_t first = 0, count = count_changed(storage, id, findings->copies[id], &first);
    int64_t offset = 0;
    bool written = read_only_is_written(findings->watched, id, &offset);
    if (count == 0 && !written)
        return;
    written_text(findings, id, count, count ? first : (uint64_t)offset / element_size(storage, id),
                 &text);
    if (diag_at(findings->runner->diags, DIAG_wrong_kernel, op_span(findings, op),
                "the kernel of %s writes %s",
                op_text(findings->runner->module, graph, op, &scratch), text.at)) {
        help_call(findings, graph, op, id);
        findings_help_inplace(findings->runner->diags);
    }
    memcpy(storage->data[id], findings->copies[id], storage->sizes[id]);
    read_only_protect_again(findings->watched, id);
    findings->found_input = true;
    text_free(&text);
    arena_free(&scratch);
}

static void check_inputs(struct findings *findings, const struct graph *graph, const struct op *op)
{
    for (uint32_t i = 0; i < main_storage(findings)->graph->values.count; i++)
        if (findings->copies[i])
            check_input(findings, graph, op, i);
}

/* ----------------------------------------------------------------------------- a run ---- */

static void repair(const struct storages *storages)
{
    for (uint32_t graph = 0; graph < storages->count; graph++)
        for (uint32_t i = 0;
             storages->at[graph].graph && i < storages->at[graph].graph->values.count; i++)
            if (storages->at[graph].guarded[i].at)
                guarded_repair(&storages->at[graph].guarded[i]);
}

void findings_begin(struct findings *findings)
{
    const struct storages *storages = findings->second;
    findings->tainted = mem_calloc(storages->count, sizeof *findings->tainted);
    for (uint32_t i = 0; i < storages->count; i++)
        if (storages->at[i].graph)
            findings->tainted[i] = mem_calloc(storages->at[i].graph->values.count, 1);
    repair(storages);
    copy_changed_inputs(findings);
}

/* What is not written is the fault of another op. */
void findings_op_begins(void *context, const struct graph *graph, const struct op *op,
                        void *const *values)
{
    struct findings *findings = context;
    if (!is_misfed(findings, op) && !reads_tainted(findings, graph, op) &&
        !run_operands_check_op(findings->runner, graph, op, values))
        vec_push(&findings->misfed, op);
}

void findings_op_ended(void *context, const struct graph *graph, const struct op *op,
                       void *const *values)
{
    (void)values;
    struct findings *findings = context;
    check_memories(findings, graph, op);
    if (findings->beside_run)
        check_run(findings, graph, op);
    check_results(findings, graph, op);
    check_inputs(findings, graph, op);
}

/* What no op does that runs alone. */
static void report_fused(struct findings *findings, const struct unwritten *unwritten)
{
    const struct module *module = findings->runner->module;
    const struct graph *graph = &module->graphs.at[unwritten->graph];
    uint32_t def = graph->values.at[unwritten->value].def;
    struct text text = {NULL, 0, 0};
    unwritten_text(findings, unwritten, &graph->values.at[unwritten->value], &text);
    diag_at(findings->runner->diags, DIAG_wrong_kernel,
            def < graph->ops.count ? op_span(findings, &graph->ops.at[def]) : no_span,
            "the graph %s, which the op alone %s", text.at,
            unwritten->trace == POISON_READ ? "does not" : "writes");
    text_free(&text);
}

static bool report_graph(const struct findings *findings, const char *what)
{
    const struct runner *runner = findings->runner;
    return diag_at(runner->diags, DIAG_wrong_kernel,
                   locate_name(runner->module, runner->graph->loc),
                   "the graph writes %s, but no op of it does where it runs alone", what);
}

/* What is computed with poison that is left elsewhere is no fault of its own. */
static void report_proven(struct findings *findings)
{
    bool left = false;
    for (uint32_t i = 0; i < findings->proven.count; i++)
        left |= findings->proven.at[i].trace == POISON_LEFT;
    for (uint32_t i = 0; i < findings->proven.count; i++)
        if (!left || findings->proven.at[i].trace == POISON_LEFT)
            report_fused(findings, &findings->proven.at[i]);
}

void findings_end(struct findings *findings, bool changed)
{
    if (!findings->tainted_graph)
        report_proven(findings);
    if ((findings->damaged.count > 0 || findings->beside_run) && !findings->found_beside)
        report_graph(findings, "beside its tensors");
    if (changed && !findings->found_input &&
        report_graph(findings, "an input that none of its ops writes"))
        help_calls(findings);
}

void findings_free(struct findings *findings)
{
    for (uint32_t i = 0; findings->tainted && i < findings->second->count; i++)
        mem_free(findings->tainted[i]);
    mem_free(findings->tainted);
    for (uint32_t i = 0; findings->copies && i < main_storage(findings)->graph->values.count; i++)
        mem_free(findings->copies[i]);
    mem_free(findings->copies);
    vec_free(&findings->proven);
    vec_free(&findings->damaged);
    vec_free(&findings->misfed);
}
