#include "ir/base/check.h"
#include "ir/base/suggest.h"
#include "ir/verify/verify.h"
#include "passes/pass.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { WHERE_ASKED = false, WHERE_DEFAULT = true };

const struct pass passes[PASS_COUNT] = {
#define PASS(name, cli, where, needs, gives, changes, summary)                                     \
    {cli, summary, pass_##name, needs, gives, CHANGES_##changes, WHERE_##where},
#include "passes/passes.def"
#undef PASS
};

/* ----------------------------------------------------------------------- the list ---- */

static bool push(struct pipeline *pipeline, const struct pass *pass)
{
    enum { CAPACITY = sizeof pipeline->passes / sizeof pipeline->passes[0] };
    if (pipeline->count == CAPACITY)
        return false;
    pipeline->passes[pipeline->count++] = pass;
    return true;
}

static bool is_named(const struct pass *pass, const char *name, size_t size)
{
    return strlen(pass->name) == size && memcmp(name, pass->name, size) == 0;
}

static bool push_named(struct pipeline *pipeline, const char *name, size_t size, char *error,
                       size_t error_size)
{
    struct suggest suggest = {.wanted = name, .wanted_size = size};
    bool all = size == strlen("default") && memcmp(name, "default", size) == 0, found = false;
    for (unsigned i = 0; i < PASS_COUNT; i++) {
        suggest_offer_text(&suggest, passes[i].name);
        if (!(all ? passes[i].in_default : is_named(&passes[i], name, size)))
            continue;
        found = true;
        if (!push(pipeline, &passes[i])) {
            snprintf(error, error_size, "too many passes");
            return false;
        }
    }
    if (found)
        return true;
    suggest_offer_text(&suggest, "default");
    snprintf(error, error_size, "unknown pass '%.*s'%s", (int)size, name,
             suggest.best ? suggest_end(&suggest).text : "; see --list-passes");
    return false;
}

bool pipeline_parse(struct pipeline *pipeline, const char *list, char *error, size_t error_size)
{
    pipeline->count = 0;
    while (*list) {
        size_t size = strcspn(list, ",");
        if (!push_named(pipeline, list, size, error, error_size))
            return false;
        list += size + (list[size] == ',');
    }
    return true;
}

/* ------------------------------------------------------------------------ running ---- */

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

/* Whether the pass has kept to its row of the table; reported if not. */
static bool check_contract(const struct pass *pass, struct pass_context *context, unsigned before)
{
    unsigned lost = (pass->gives | before) & ~module_properties(context->module);
    /* New super kernels have no entries yet; that is what partitioning is for. */
    if (pass->gives & PROPERTY_PARTITIONED)
        lost &= ~(unsigned)PROPERTY_LOWERED;
    if (lost)
        diag_at(context->diags, DIAG_pass_order, no_span,
                "the pass '%s' broke its contract (properties 0x%x); this is a defect of skirc",
                pass->name, lost);
    return lost == 0;
}

static enum pipeline_status run_one(const struct pass *pass, struct pass_context *context,
                                    double *seconds)
{
    unsigned before = module_properties(context->module);
    if (pass->needs & ~before) {
        report_missing(context->diags, pass, pass->needs & ~before);
        return PIPELINE_INPUT;
    }
    double start = now();
    bool ok = pass->run(context);
    *seconds = now() - start;
    if (pass->changes == CHANGES_GRAPHS)
        analyses_drop(context->analyses);
    expensive_assert(analyses_hold(context->analyses, context->module));
    if (!ok)
        return PIPELINE_INPUT;
    return check_contract(pass, context, before) ? PIPELINE_OK : PIPELINE_DEFECT;
}

static enum pipeline_status run_all(const struct pipeline *pipeline, struct pass_context *context,
                                    pipeline_hook *hook, void *user)
{
    for (unsigned i = 0; i < pipeline->count; i++) {
        double seconds = 0;
        enum pipeline_status status = run_one(pipeline->passes[i], context, &seconds);
        if (status != PIPELINE_OK)
            return status;
        if (hook && !hook(user, pipeline->passes[i], seconds))
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

enum pipeline_status pipeline_lower(struct pass_context *context)
{
    struct pipeline pipeline;
    char error[256];
    pipeline_parse(&pipeline, "default", error, sizeof error);
    enum pipeline_status status = pipeline_run(&pipeline, context, NULL, NULL);
    /* The input was correct, and the passes made this of it. */
    if (status == PIPELINE_OK && !verify_module(context->module, context->diags))
        return PIPELINE_DEFECT;
    return status;
}
