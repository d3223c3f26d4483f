#include "frontend/commands/opt_report.h"
#include "ir/base/json.h"

struct module_counts module_count(const struct module *module)
{
    struct module_counts counts = {.kernels = module->kernels.count,
                                   .graphs = module->graphs.count,
                                   .entries = module->entries.count};
    for (uint32_t i = 0; i < module->graphs.count; i++) {
        const struct graph *graph = &module->graphs.at[i];
        counts.ops += graph->ops.count;
        for (uint32_t j = 0; j < graph->blocks.count; j++)
            counts.superkernels += graph->blocks.at[j].kind == BLOCK_SUPERKERNEL;
    }
    for (uint32_t i = 0; i < module->entries.count; i++)
        for (int core = 0; core < CORE_TYPES; core++) {
            const struct program *program = &module->entries.at[i].programs[core];
            for (uint32_t j = 0; j < program->instrs.count; j++)
                counts.instrs[program->instrs.at[j].op]++;
        }
    return counts;
}

static void print_count(FILE *out, uint64_t count, const char *what)
{
    fprintf(out, "%8llu %s\n", (unsigned long long)count, what);
}

void module_counts_print(FILE *out, const struct module_counts *counts)
{
    print_count(out, counts->kernels, "kernels");
    print_count(out, counts->graphs, "graphs");
    print_count(out, counts->ops, "ops");
    print_count(out, counts->superkernels, "super kernels");
    print_count(out, counts->entries, "entries");
    for (int op = 0; op < INSTR_COUNT; op++)
        if (counts->instrs[op])
            print_count(out, counts->instrs[op], instr_info(op)->name);
}

/* ------------------------------------------------------------------------------ JSON ---- */

static void put_counts(struct json *json, const char *key, const struct module_counts *counts)
{
    json_key(json, key);
    json_open_object(json);
    json_add_unsigned(json, "kernels", counts->kernels);
    json_add_unsigned(json, "graphs", counts->graphs);
    json_add_unsigned(json, "ops", counts->ops);
    json_add_unsigned(json, "superkernels", counts->superkernels);
    json_add_unsigned(json, "entries", counts->entries);
    json_key(json, "instructions");
    json_open_object(json);
    for (int op = 0; op < INSTR_COUNT; op++)
        if (counts->instrs[op])
            json_add_unsigned(json, instr_info(op)->name, counts->instrs[op]);
    json_close_object(json);
    json_close_object(json);
}

static void put_run(struct json *json, const struct pass_run *run, bool steady)
{
    json_line(json);
    json_open_object(json);
    json_add_string(json, "pass", run->pass->name);
    if (!steady) {
        json_key(json, "ms");
        json_double(json, (double)(uint64_t)(run->seconds * 1e6 + 0.5) / 1e3); /* whole us */
    }
    json_key(json, "changed");
    json_bool(json, run->changed);
    json_close_object(json);
}

void opt_report_json(struct text *text, const struct opt_report *report, struct input *input,
                     enum exit_status status)
{
    struct json json = {.text = text};
    json_open_object(&json);
    json_add_string(&json, "file", report->file);
    json_add_unsigned(&json, "status", status);
    json_line(&json);
    json_key(&json, "passes");
    json_open_array(&json);
    for (uint32_t i = 0; i < report->runs.count; i++)
        put_run(&json, &report->runs.at[i], report->steady);
    json_close_array(&json);
    if (report->read) {
        json_line(&json);
        put_counts(&json, "before", &report->before);
    }
    if (status == EXIT_DONE) {
        json_line(&json);
        put_counts(&json, "after", &report->after);
    }
    json_line(&json);
    json_key(&json, "diagnostics");
    json_open_array(&json);
    input_diags_json(input, &json, NULL);
    json_close_array(&json);
    json_close_object(&json);
    text_char(text, '\n');
}
