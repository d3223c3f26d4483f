/* skirc check: what is wrong with a file, and what would be fused. */
#include "frontend/cli/input.h"
#include "frontend/cli/pass_plugins.h"
#include "frontend/cli/shared_options.h"
#include "frontend/commands/check_explain.h"
#include "frontend/commands/check_gears.h"
#include "frontend/commands/cmd.h"
#include "frontend/commands/given_shapes.h"
#include "frontend/commands/lowered_input.h"
#include "passes/launches/launch_text.h"

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

static void print_states(struct account *account, const struct graph_launches *launches,
                         struct queue *queue)
{
    struct search search;
    struct launch_lines lines = {NULL, 0, 0};
    search_init(&search, queue, SEARCH_STATES, SEARCH_WORK);
    enum verdict verdict = search_run(&search);
    unsigned long long tried = search.tried;
    const char *plural = tried == 1 ? "" : "s";
    if (verdict == SEARCH_SAFE)
        fprintf(account->out, "    nothing hangs (%llu state%s tried)\n", tried, plural);
    if (verdict == SEARCH_UNKNOWN)
        fprintf(account->out, "    not known: %llu state%s tried, and there are more\n", tried,
                plural);
    if (verdict == SEARCH_HANGS) {
        fprintf(account->out, "    can hang (%llu state%s tried):\n", tried, plural);
        describe_state(&lines, launches, &search);
    }
    print_lines(account, &lines);
    search_free(&search);
}

static void print_verdict(struct account *account, const struct graph_launches *launches)
{
    struct queue queue;
    queue_init(&queue, &launches->table);
    uint32_t *positions = mem_calloc(queue.n_lanes, sizeof *positions);
    if (queue_has_cycle(&queue, positions)) {
        struct launch_lines lines = {NULL, 0, 0};
        fputs("    hangs, whatever cores there are:\n", account->out);
        describe_cycle(&lines, launches, &queue, positions);
        print_lines(account, &lines);
    } else {
        print_states(account, launches, &queue);
    }
    mem_free(positions);
    queue_free(&queue);
}

static void print_graph(struct account *account, const struct graph *graph)
{
    struct graph_launches launches;
    struct text line = {NULL, 0, 0};
    graph_launches_init(&launches, &account->analyses, &account->called, account->module, graph);
    const struct launch_table *table = &launches.table;
    text_printf(&line, "'@%.*s': %u launch%s on %u stream%s, with %u AICs and %u AIVs",
                NAME(account->module, graph->name), table->rows.count,
                table->rows.count == 1 ? "" : "es", table->n_streams,
                table->n_streams == 1 ? "" : "s", table->device.aics, table->device.aivs);
    print_line(account, "  ", &line);
    for (uint32_t i = 0; i < table->rows.count; i++) {
        describe_row(&line, &launches, i);
        print_line(account, "    ", &line);
    }
    print_verdict(account, &launches);
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

/* Prints the account of each graph of a module that is lowered as far as it goes, with what remarks
 * of limit-residency tell. */
static void check_launches_print(struct input *input)
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

const struct option options_check[] = {
    {"explain", 0, OPTION_FLAG, NULL,
     "report what would be fused, where scopes break, why, and what to change"},
    {"estimate", 0, OPTION_FLAG, NULL,
     "report how long ops and launches may take, by the numbers of the target's chip"},
    {"launches", 0, OPTION_FLAG, NULL, "report what is launched, and whether launches can hang"},
    {"no-lower", 0, OPTION_FLAG, NULL,
     "stop behind the verifier: kernels, fusion and synchronisation are not looked at"},
    {"target", 0, OPTION_VALUE, "TARGET", backend_help},
    BIND_OPTION,
    SHAPE_OPTION,
    STRICT_GEARS_OPTION,
    SESSION_OPTIONS,
    PASS_PLUGIN_OPTION,
    JOBS_OPTION,
    {0},
};

/* One file, and what is asked about it. */
struct check {
    struct input input;
    struct session session;
    const struct backend *target;
    const struct pass_plugins *plugins;
    bool explain, launches, estimate, lower;
};

/* ------------------------------------------------------------------------ accounts ---- */

/* The passes that decide what is fused and what launches are. Where all ops have kernels, these say
 * on how many cores super kernels run, and so whether some of them have to wait as wholes, or are
 * cut. `counted`: launches are known. */
static enum pipeline_status decide(struct check *check, bool *counted)
{
    bool bind = check->lower || check->launches || check->estimate;
    enum pipeline_status status =
        session_lower_part(&check->session, 0, bind ? PASS_limit_residency : PASS_bind_kernels);
    *counted = status == PIPELINE_OK && module_properties(check->input.module) & PROPERTY_BOUND;
    return *counted
               ? session_lower_part(&check->session, PASS_limit_residency, PASS_limit_residency + 1)
               : status;
}

/* The pipeline, with the accounts of what it decides. Whether launches hang, their entries say. */
static enum pipeline_status print_account(struct check *check)
{
    struct input *input = &check->input;
    bool kept = input->diags.remarks, counted;
    input->diags.remarks = true;
    enum pipeline_status status = decide(check, &counted);
    input->diags.remarks = kept;
    /* With --remarks, they are printed with their source lines or written to a file at the end. */
    if (check->explain && !kept)
        check_explain_print(input);
    if (check->estimate && counted)
        check_estimate_print(input);
    if (status == PIPELINE_OK && check->lower)
        status = session_lower_part(&check->session, PASS_limit_residency + 1, PASS_COUNT);
    if (check->launches && counted)
        check_launches_print(input);
    if (!kept)
        diags_drop(&input->diags, SEVERITY_REMARK);
    if (status == PIPELINE_OK && check->lower && check->explain)
        check_gears_print(input->invocation->out, input->module);
    return status;
}

/* ---------------------------------------------------------------------------- files ---- */

static enum pipeline_status lower(struct check *check)
{
    if (check->explain || check->launches || check->estimate)
        return print_account(check);
    return check->lower ? session_lower(&check->session) : PIPELINE_OK;
}

/* What `compile` does up to where it calls a tool. */
static enum exit_status check_module(struct check *check)
{
    struct input *input = &check->input;
    struct session_options options = {.target = check->target};
    session_options_find(input, check->plugins, &options);
    session_open(&check->session, input->module, &input->diags, &options);
    enum exit_status status = EXIT_INPUT;
    if (session_target_accepts(&check->session))
        status = pipeline_exit_status(lower(check));
    if (status == EXIT_DONE && check->lower)
        status = backend_exit_status(session_check_target(&check->session));
    session_close(&check->session);
    return status;
}

static enum exit_status check_file(struct invocation *invocation, const struct backend *target,
                                   const struct pass_plugins *plugins, const char *path)
{
    struct check check = {.target = target,
                          .plugins = plugins,
                          .explain = option_given(invocation, "explain"),
                          .launches = option_given(invocation, "launches"),
                          .estimate = option_given(invocation, "estimate"),
                          .lower = !option_given(invocation, "no-lower")};
    enum exit_status status = EXIT_INPUT;
    if (input_open_verified(&check.input, invocation, path) &&
        (status = given_shapes_bind(&check.input)) == EXIT_DONE)
        status = check_module(&check);
    return input_close(&check.input, status);
}

static enum exit_status check_all(struct invocation *invocation, const struct backend *target,
                                  const struct pass_plugins *plugins)
{
    enum exit_status status = EXIT_DONE;
    for (unsigned i = 0; i < invocation->n_files; i++)
        status =
            worse_status(status, check_file(invocation, target, plugins, invocation->files[i]));
    return status;
}

enum exit_status cmd_check(struct invocation *invocation)
{
    struct pass_plugins plugins;
    const struct backend *target = target_option(invocation);
    if (!target || !sk_argument_check(invocation, "sk-options") ||
        !fusion_arguments_check(invocation))
        return EXIT_USAGE;
    enum exit_status status = pass_plugins_open(&plugins, invocation);
    if (status == EXIT_DONE)
        status = check_all(invocation, target, &plugins);
    pass_plugins_close(&plugins);
    return status;
}
