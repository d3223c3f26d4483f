/* skirc check: what is wrong with a file, and what would be fused. */
#include "frontend/cli/input.h"
#include "frontend/cli/sk_argument.h"
#include "frontend/commands/check_launches.h"
#include "frontend/commands/cmd.h"
#include "frontend/session.h"
#include "ir/syntax/origins.h"

#include <string.h>

const struct option options_check[] = {
    {"explain", 0, OPTION_FLAG, NULL,
     "report what would be fused, where scopes break, why, and what to change"},
    {"launches", 0, OPTION_FLAG, NULL,
     "report what is launched, and whether launches can hang; also of a table, FILE.json"},
    {"kernel-dir", 0, OPTION_VALUE, "DIR", "where the sample kernels are, for --launches"},
    {"sk-options", 0, OPTION_VALUE, "TEXT", "options of every scope, over what the file says"},
    {0},
};

/* The passes that decide what is fused. */
static const char deciding_passes[] =
    "assign-streams,partition-scopes,split-nonfusable,limit-stream-fusion,insert-events";

static void print_line_number(FILE *out, struct source *source, struct span span)
{
    if (span.end && source)
        fprintf(out, "line %u: ", source_position(source, span.begin).line);
}

static void print_origin(FILE *out, struct diag_origin origin)
{
    if (!origin.text)
        return;
    diag_put(out, origin.text, origin.size);
    fputs(": ", out);
}

static void print_remark(FILE *out, struct source *source, const struct diag *diag)
{
    fputs("  ", out);
    print_origin(out, diag->origin);
    print_line_number(out, source, diag->span);
    diag_put(out, diag->text, strlen(diag->text));
    fprintf(out, " [%s]\n", diag_id_text(diag->id));
    for (const struct diag_note *note = diag->notes; note; note = note->next) {
        fputs(note->span.end ? "    " : "    -> ", out);
        print_origin(out, note->origin);
        print_line_number(out, source, note->span);
        diag_put(out, note->text, strlen(note->text));
        fputc('\n', out);
    }
}

/* Prints the remarks as a report, without source lines, and takes them off the diagnostics. */
static void print_report(struct input *input)
{
    struct diags *diags = &input->diags;
    FILE *out = input->invocation->out;
    origins_mark(input->module, diags);
    const struct diag **order = diags_sorted(diags);
    uint32_t remarks = 0, kept = 0;
    diag_put(out, diags->path, strlen(diags->path));
    fputs(":\n", out);
    for (uint32_t i = 0; i < diags->list.count; i++) {
        if (order[i]->severity != SEVERITY_REMARK)
            continue;
        print_remark(out, diags->source, order[i]);
        remarks++;
    }
    mem_free(order);
    if (remarks == 0)
        fputs("  nothing is marked to be fused: no op is in a scope\n", out);
    for (uint32_t i = 0; i < diags->list.count; i++)
        if (diags->list.at[i].severity != SEVERITY_REMARK)
            diags->list.at[kept++] = diags->list.at[i];
    diags->list.count = kept;
}

/* Without sample kernels: what a file says must stand by itself. */
static enum exit_status run_passes(struct input *input, const char *passes)
{
    struct session session;
    struct session_options options = {.source = input->path,
                                      .sk_options = option_value(input->invocation, "sk-options")};
    session_open(&session, input->module, &input->diags, &options);
    enum pipeline_status status = pipeline_run_list(&session.context, passes);
    session_close(&session);
    return status == PIPELINE_DEFECT ? EXIT_DEFECT : EXIT_DONE;
}

/* Where all ops have kernels, these say what the calls of hand-written entries are. */
static const char *proving_passes(const struct module *module)
{
    bool short_calls = ops_are_bound(module) && !(module_properties(module) & PROPERTY_BOUND);
    return short_calls ? "bind-kernels,verify-sync" : "verify-sync";
}

/* Where all ops have kernels, these say on how many cores super kernels run, and so whether some of
 * them have to wait as wholes, or are cut. */
static enum exit_status explain(struct input *input)
{
    input->diags.remarks = true;
    enum exit_status status = run_passes(input, deciding_passes);
    if (status == EXIT_DONE && !input->diags.counts[SEVERITY_ERROR] &&
        module_properties(input->module) & PROPERTY_BOUND)
        status = run_passes(input, "limit-residency");
    /* With --remarks, they are printed with their source lines or written to a file at the end. */
    if (!option_given(input->invocation, "remarks"))
        print_report(input);
    return status;
}

static enum exit_status check_file(struct invocation *invocation, const char *path)
{
    struct input input;
    enum exit_status status = EXIT_DONE;
    if (input_open_verified(&input, invocation, path)) {
        status = run_passes(&input, proving_passes(input.module));
        if (option_given(invocation, "explain"))
            status = worse_status(status, explain(&input));
        if (option_given(invocation, "launches") && !input.diags.counts[SEVERITY_ERROR])
            status = worse_status(status, check_launches(&input));
    }
    return input_close(&input, status);
}

enum exit_status cmd_check(struct invocation *invocation)
{
    enum exit_status status = EXIT_DONE;
    if (!sk_argument_check(invocation, "sk-options"))
        return EXIT_USAGE;
    for (unsigned i = 0; i < invocation->n_files; i++) {
        const char *path = invocation->files[i];
        bool table = option_given(invocation, "launches") && is_launch_table(path);
        status = worse_status(status, table ? check_launch_table(invocation, path)
                                            : check_file(invocation, path));
    }
    return status;
}
