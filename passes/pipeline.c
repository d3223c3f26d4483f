#include "passes/pipeline.h"
#include "ir/base/check.h"
#include "ir/verify/verify.h"
#include "passes/kept_texts.h"

#include <assert.h>
#include <time.h>

static void report_missing(struct diags *diags, const struct pass *pass, unsigned missing)
{
    for (unsigned property = 1; property < PROPERTY_END; property <<= 1)
        if (missing & property)
            diag_at(diags, DIAG_pass_order, no_span, "the pass '%s' needs %s", pass->name,
                    property_text(property));
}

static double now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_MONOTONIC, &ts);
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static void report_lost(struct diags *diags, const struct pass *pass, unsigned lost)
{
    for (unsigned property = 1; property < PROPERTY_END; property <<= 1)
        if (lost & property)
            diag_at(
                diags, DIAG_pass_order, no_span,
                "behind the pass '%s' the module is not %s any more, as its row says; this is a "
                "defect of %s%s",
                pass->name, property_name(property), PASS_BLAME(pass));
}

/* Whether the pass has kept to its row of the table; reported if not. */
static bool check_contract(const struct pass *pass, struct pass_context *context, unsigned before,
                           unsigned after)
{
    unsigned lost = (pass->gives | before) & ~after;
    /* Super kernels that it makes have no entries yet. */
    if (pass->changes == CHANGES_GRAPHS)
        lost &= ~(unsigned)PROPERTY_LOWERED | pass->gives;
    report_lost(context->diags, pass, lost);
    return lost == 0;
}

static bool report_changed(const struct pass *pass, struct pass_context *context,
                           const char *changed)
{
    diag_at(context->diags, DIAG_pass_order, no_span,
            "the pass '%s' has changed %s, against its row; this is a defect of %s%s", pass->name,
            changed, PASS_BLAME(pass));
    return false;
}

/* Analyses are kept where the row says that graphs are not changed. That of a pass of skirc is
 * trusted; for a pass of others it would be a mystery what went wrong. */
static bool keep_analyses(const struct pass *pass, struct pass_context *context)
{
    if (pass->changes == CHANGES_GRAPHS)
        analyses_drop(context->analyses);
    if (!pass->plugin || analyses_hold(context->analyses, context->module)) {
        expensive_assert(analyses_hold(context->analyses, context->module));
        return true;
    }
    return report_changed(pass, context, "graphs");
}

/* The pass itself. `changed`: what it has changed against its row, or NULL. */
static bool run_pass(const struct pass *pass, struct pass_context *context, double *seconds,
                     const char **changed)
{
    struct kept_texts texts;
    kept_texts_take(&texts, pass, context->module);
    double start = now();
    bool ok = pass->run(context);
    *seconds = now() - start;
    *changed = kept_texts_changed(&texts, pass, context->module);
    return ok;
}

/* The properties behind a pass. What its row says that it changes is trusted for a pass of skirc
 * alone. */
static unsigned properties_behind(const struct pass *pass, const struct module *module,
                                  unsigned before)
{
    unsigned properties;
    if (pass->plugin || pass->changes == CHANGES_KERNELS || pass->changes == CHANGES_GRAPHS)
        return module_properties(module);
    properties =
        pass->changes == CHANGES_NOTHING ? before : module_properties_of_entries(module, before);
    expensive_assert(properties == module_properties(module));
    return properties;
}

/* `properties` are those of the module, before it and then behind it. */
static enum pipeline_status run_one(const struct pass *pass, struct pass_context *context,
                                    unsigned *properties, double *seconds)
{
    unsigned before = *properties;
    if (pass->needs & ~before) {
        report_missing(context->diags, pass, pass->needs & ~before);
        return PIPELINE_INPUT;
    }
    const char *changed;
    bool ok = run_pass(pass, context, seconds, &changed);
    bool kept = keep_analyses(pass, context);
    if (!ok)
        return PIPELINE_INPUT;
    if (kept && changed)
        kept = report_changed(pass, context, changed);
    *properties = properties_behind(pass, context->module, before);
    return kept && check_contract(pass, context, before, *properties) ? PIPELINE_OK
                                                                      : PIPELINE_DEFECT;
}

static enum pipeline_status run_all(const struct pipeline *pipeline, struct pass_context *context,
                                    pipeline_hook *hook, void *user)
{
    unsigned properties = module_properties(context->module);
    for (uint32_t i = 0; i < pipeline->count; i++) {
        double seconds = 0;
        enum pipeline_status status = run_one(pipeline->at[i], context, &properties, &seconds);
        if (status != PIPELINE_OK)
            return status;
        if (hook && !hook(user, pipeline->at[i], seconds))
            return PIPELINE_STOPPED;
    }
    return PIPELINE_OK;
}

enum pipeline_status pipeline_run(const struct pipeline *pipeline, struct pass_context *context,
                                  pipeline_hook *hook, void *user)
{
    struct analyses own = {.effects = NULL}, *lent = context->analyses;
    if (!lent)
        context->analyses = &own;
    enum pipeline_status status = run_all(pipeline, context, hook, user);
    context->analyses = lent;
    analyses_drop(&own);
    return status;
}

enum pipeline_status pipeline_run_list(struct pass_context *context, const char *list)
{
    struct pipeline pipeline;
    char error[256];
    bool right = pipeline_parse(&pipeline, list, error, sizeof error);
    assert(right);
    enum pipeline_status status =
        right ? pipeline_run(&pipeline, context, NULL, NULL) : PIPELINE_DEFECT;
    pipeline_free(&pipeline);
    return status;
}

/* Whether a pass is `end`, or one behind it of the passes of passes.def. */
static bool is_behind(const struct pass *pass, unsigned end)
{
    return pass >= passes + end && pass < passes + PASS_COUNT;
}

static enum pipeline_status run_part(struct pass_context *context, const struct pass_table *table,
                                     unsigned first, unsigned end)
{
    struct pipeline pipeline = {NULL, 0, 0};
    uint32_t i = 0;
    while (first > 0 && i < table->count && !is_behind(table->at[i], first))
        i++;
    for (; i < table->count && !is_behind(table->at[i], end); i++)
        if (table->at[i]->in_default)
            pipeline_add(&pipeline, table->at[i]);
    enum pipeline_status status = pipeline_run(&pipeline, context, NULL, NULL);
    pipeline_free(&pipeline);
    return status;
}

enum pipeline_status pipeline_lower_part(struct pass_context *context,
                                         const struct pass_table *table, unsigned first,
                                         unsigned end)
{
    struct pass_table own = {NULL, 0, 0};
    if (!table)
        pass_table_init(&own);
    enum pipeline_status status = run_part(context, table ? table : &own, first, end);
    pass_table_free(&own);
    /* The input was correct, and the passes made this of it. */
    if (status == PIPELINE_OK && end == PASS_COUNT &&
        !verify_module(context->module, context->diags))
        return PIPELINE_DEFECT;
    return status;
}

enum pipeline_status pipeline_lower(struct pass_context *context, const struct pass_table *table)
{
    return pipeline_lower_part(context, table, 0, PASS_COUNT);
}
