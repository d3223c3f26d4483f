#include "frontend/commands/check_launches.h"
#include "passes/launches/describe.h"

struct account {
    FILE *out;
    struct input *input;
    const struct module *module;
    struct analyses analyses;
    struct called_launches called;
};

static void print_line(struct account *account, const char *indent, struct text *line)
{
    fprintf(account->out, "%s%.*s\n", indent, (int)line->size, line->at);
    line->size = 0;
}

static void print_lines(struct account *account, struct launch_lines *lines)
{
    for (uint32_t i = 0; i < lines->count; i++)
        fprintf(account->out, "      %s%s\n", lines->at[i].row == NONE ? "it came so: " : "",
                lines->at[i].text);
    launch_lines_free(lines);
}

static void print_states(struct account *account, struct queue *queue,
                         const struct launch_names *names)
{
    struct explorer explorer;
    struct launch_lines lines = {NULL, 0, 0};
    explorer_init(&explorer, queue, EXPLORE_STATES);
    enum verdict verdict = explorer_run(&explorer);
    unsigned long long tried = explorer.tried;
    const char *plural = tried == 1 ? "" : "s";
    if (verdict == LAUNCHES_SAFE)
        fprintf(account->out, "    nothing hangs (%llu state%s tried)\n", tried, plural);
    if (verdict == LAUNCHES_UNKNOWN)
        fprintf(account->out, "    not known: %llu state%s tried, and there are more\n", tried,
                plural);
    if (verdict == LAUNCHES_HANG) {
        fprintf(account->out, "    can hang (%llu state%s tried):\n", tried, plural);
        describe_state(&lines, names, &explorer, true);
    }
    print_lines(account, &lines);
    explorer_free(&explorer);
}

static void print_verdict(struct account *account, const struct launch_table *table,
                          const struct launch_names *names)
{
    struct queue queue;
    struct queue_circle circle;
    struct launch_lines lines = {NULL, 0, 0};
    queue_init(&queue, table);
    if (queue_find_circle(&queue, &circle)) {
        fputs("    hangs, whatever cores there are:\n", account->out);
        describe_circle(&lines, names, &queue, &circle);
        print_lines(account, &lines);
    } else {
        print_states(account, &queue, names);
    }
    queue_circle_free(&circle);
    queue_free(&queue);
}

static void print_graph(struct account *account, const struct graph *graph)
{
    struct graph_launches launches;
    struct text line = {NULL, 0, 0};
    graph_launches_init(&launches, &account->analyses, &account->called, account->module, graph);
    const struct launch_table *table = &launches.table;
    struct launch_names names = graph_launch_names(&launches);
    text_printf(&line, "'@%.*s': %u launch%s on %u stream%s, with %u AICs and %u AIVs",
                NAME(account->module, graph->name), table->rows.count,
                table->rows.count == 1 ? "" : "es", table->n_streams,
                table->n_streams == 1 ? "" : "s", table->device.aics, table->device.aivs);
    print_line(account, "  ", &line);
    for (uint32_t i = 0; i < table->rows.count; i++) {
        describe_row(&line, &names, table, i);
        print_line(account, "    ", &line);
    }
    print_verdict(account, table, &names);
    text_free(&line);
    graph_launches_free(&launches);
}

/* Remarks about what was changed. */
static void print_changes(struct account *account)
{
    const struct diags *diags = &account->input->diags;
    for (uint32_t i = 0; i < diags->list.count; i++) {
        const struct diag *diag = &diags->list.at[i];
        if (diag->id == DIAG_launch_waits || diag->id == DIAG_launch_cut) {
            fputs("  changed: ", account->out);
            if (diag->span.end && diags->source)
                fprintf(account->out,
                        "line %u: ", source_position(diags->source, diag->span.begin).line);
            fprintf(account->out, "%s\n", diag->text);
        }
    }
}

void check_launches_print(struct input *input)
{
    struct account account = {
        .out = input->invocation->out, .input = input, .module = input->module};
    fprintf(account.out, "%s:\n", input->diags.path);
    print_changes(&account);
    called_launches_init(&account.called, input->module);
    for (uint32_t i = 0; i < input->module->graphs.count; i++)
        if (input->module->graphs.at[i].cases.count == 0) /* others launch for it */
            print_graph(&account, &input->module->graphs.at[i]);
    called_launches_free(&account.called);
    analyses_drop(&account.analyses);
}
