#include "frontend/commands/run_report.h"
#include "frontend/cli/output.h"
#include "frontend/exchange/writers/trace_events.h"

#include <string.h>
#include <unistd.h>

/* What kernels that do not return use must not go away. */
static _Noreturn void leave(const struct invocation *invocation)
{
    fflush(invocation->out);
    fflush(invocation->err);
    _exit(EXIT_INPUT);
}

enum exit_status run_report_end(const struct runner *runner, const struct run_result *result)
{
    if (result->end == RUN_DONE)
        return EXIT_DONE;
    fprintf(runner->invocation->err, "skirc: %s\n", result->cause);
    for (uint32_t i = 0; i < result->n_reports; i++)
        fputs(result->reports[i], runner->invocation->err);
    if (result->end == RUN_STUCK)
        leave(runner->invocation);
    return EXIT_INPUT;
}

enum exit_status run_report_profile(const struct runner *runner, const struct run_profile *profile)
{
    struct text text = {NULL, 0, 0};
    trace_events_write(&text, profile);
    enum exit_status status = write_output(runner->invocation, runner->profile, &text);
    text_free(&text);
    return status;
}

enum exit_status run_report_trace(const struct runner *runner, const struct run_result *result)
{
    struct text text = {NULL, 0, 0};
    if (!runner->trace)
        return EXIT_DONE;
    text_bytes(&text, result->trace, result->trace_size);
    enum exit_status status = write_output(runner->invocation, runner->trace, &text);
    text_free(&text);
    return status;
}

static const char *count_text(char *text, size_t size, uint32_t count, const char *noun)
{
    snprintf(text, size, "%u %s%s", count, noun,
             count == 1                      ? ""
             : noun[strlen(noun) - 1] == 'h' ? "es"
                                             : "s");
    return text;
}

void run_report_summary(const struct runner *runner, const struct outcome *fused,
                        const struct outcome *unfused, bool equal)
{
    FILE *out = runner->invocation->out;
    char ops[40], launches[40];
    const struct intern_name *name = &runner->module->names.names[runner->graph->name];
    diag_put(out, name->text, name->size);
    fprintf(out, ": %s in %s, %.3f ms", count_text(ops, sizeof ops, runner->graph->ops.count, "op"),
            count_text(launches, sizeof launches, fused->launches, "launch"), fused->seconds * 1e3);
    if (unfused)
        fprintf(out, "; unfused in %s, %.3f ms; %s",
                count_text(launches, sizeof launches, unfused->launches, "launch"),
                unfused->seconds * 1e3, equal ? "bit-exact" : "DIFFERENT");
    if (runner->race_check)
        fprintf(out, "; race-free (%s)", count_text(ops, sizeof ops, fused->orders, "order"));
    fputc('\n', out);
}
