#include "backend/target/backend.h"
#include "ir/support/diag.h"
#include "ir/support/text.h"
#include "ir/syntax/print.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

enum { RUNS_no, RUNS_yes };

static const struct backend backends[] = {
#define BACKEND(name, summary, runs, functions)                                                    \
    {BACKEND_##name, #name, summary, RUNS_##runs, &functions},
#include "backend/target/backends.def"
};

static const struct emission emissions[] = {
#define EMISSION(target, name, kind, suffix, make, summary)                                        \
    {BACKEND_##target, name, summary, EMISSION_##kind, suffix, make},
#include "backend/target/backends.def"
};

enum {
    BACKENDS = sizeof backends / sizeof backends[0],
    EMISSIONS = sizeof emissions / sizeof emissions[0],
};

/* ----------------------------------------------------------------------------- help ---- */

const char backend_help[] = "the first by default:"
#define BACKEND(name, summary, runs, functions) "\n" #name ": " summary
#include "backend/target/backends.def"
    ;

#define LINE_no(line) ""
#define LINE_yes(line) line
const char backend_runner_help[] = "the first by default:"
#define BACKEND(name, summary, runs, functions) LINE_##runs("\n" #name ": " summary)
#include "backend/target/backends.def"
    ;

const char emission_help[] = "the first of the target's own by default:"
#define EMISSION(target, name, kind, suffix, make, summary) "\n" name ": " summary " (" #target ")"
#include "backend/target/backends.def"
    ;

/* ---------------------------------------------------------------------------- names ---- */

static void add_name(struct text *names, const char *name)
{
    text_printf(names, "%s%s", names->size ? ", " : "", name);
}

/* A name is compared with all that there are, until one is equal. */
struct search {
    struct suggest suggest;
    struct text names; /* so far, for the error of a search in vain */
};

static struct search search_begin(const char *wanted)
{
    return (struct search){.suggest = {.wanted = wanted, .wanted_size = strlen(wanted)}};
}

static bool search_meets(struct search *search, const char *name)
{
    if (strcmp(search->suggest.wanted, name) == 0) {
        text_free(&search->names);
        return true;
    }
    suggest_offer_text(&search->suggest, name);
    add_name(&search->names, name);
    return false;
}

/* Completes the error: a similar name, or all names after `list`. */
static void search_fail(struct search *search, const char *list, char *error, size_t error_size)
{
    const struct suggest *suggest = &search->suggest;
    size_t size = strlen(error);
    if (suggest->best)
        snprintf(error + size, error_size - size, "%s", suggest_end(suggest).text);
    else
        snprintf(error + size, error_size - size, "; %s %.*s", list, (int)search->names.size,
                 search->names.at);
    text_free(&search->names);
}

/* -------------------------------------------------------------------------- targets ---- */

const struct backend *backend_default(void)
{
    return &backends[0];
}

const struct backend *backend_find(const char *name, char *error, size_t error_size)
{
    struct search search = search_begin(name);
    for (unsigned i = 0; i < BACKENDS; i++)
        if (search_meets(&search, backends[i].name))
            return &backends[i];
    snprintf(error, error_size, "there is no target '%s'", name);
    search_fail(&search, "there is only", error, error_size);
    return NULL;
}

const struct backend *backend_emitting(const char *emission, char *error, size_t error_size)
{
    struct search search = search_begin(emission);
    for (unsigned i = 0; i < EMISSIONS; i++) {
        bool first = true; /* of several targets with a row of one name */
        for (unsigned k = 0; k < i; k++)
            first &= strcmp(emissions[k].name, emissions[i].name) != 0;
        if (first && search_meets(&search, emissions[i].name))
            return emissions[i].target == BACKEND_any ? backend_default()
                                                      : &backends[emissions[i].target - 1];
    }
    snprintf(error, error_size, "no target emits '%s'", emission);
    search_fail(&search, "there is only", error, error_size);
    return NULL;
}

const struct backend_runner *backend_runner(const struct backend *backend, char *error,
                                            size_t error_size)
{
    assert(backend->runs == (backend->functions->runner != NULL));
    if (backend->runs)
        return backend->functions->runner;
    struct text names = {NULL, 0, 0};
    for (unsigned i = 0; i < BACKENDS; i++)
        if (backends[i].runs)
            add_name(&names, backends[i].name);
    snprintf(error, error_size, "graphs do not run on the target '%s', only on %.*s", backend->name,
             (int)names.size, names.at);
    text_free(&names);
    return NULL;
}

/* ------------------------------------------------------------------------ emissions ---- */

static bool emits(const struct backend *backend, const struct emission *emission)
{
    return emission->target == BACKEND_any || emission->target == backend->id;
}

const struct emission *emission_default(const struct backend *backend)
{
    unsigned i = 0;
    while (i < EMISSIONS && emissions[i].target != backend->id)
        i++;
    assert(i < EMISSIONS);
    return &emissions[i];
}

/* Of the other targets: who emits just this, else a similar name. */
static const struct backend *search_others(struct search *search, const struct backend *backend)
{
    for (unsigned i = 0; i < EMISSIONS; i++) {
        if (emits(backend, &emissions[i]))
            continue;
        if (strcmp(search->suggest.wanted, emissions[i].name) == 0)
            return &backends[emissions[i].target - 1];
        suggest_offer_text(&search->suggest, emissions[i].name);
    }
    return NULL;
}

const struct emission *emission_find(const struct backend *backend, const char *name, char *error,
                                     size_t error_size)
{
    struct search search = search_begin(name);
    for (unsigned i = 0; i < EMISSIONS; i++)
        if (emits(backend, &emissions[i]) && search_meets(&search, emissions[i].name))
            return &emissions[i];
    snprintf(error, error_size, "the target '%s' does not emit '%s'", backend->name, name);
    const struct backend *other = search.suggest.best ? NULL : search_others(&search, backend);
    if (other) {
        size_t size = strlen(error);
        snprintf(error + size, error_size - size, ", but '%s' does", other->name);
        text_free(&search.names);
        return NULL;
    }
    search_fail(&search, "it emits", error, error_size);
    return NULL;
}

/* ------------------------------------------------------------------ of every target ---- */

enum backend_status backend_emit_module(const struct emission_job *job)
{
    print_whole_module(job->text, job->module, job->comments);
    return BACKEND_OK;
}

/* Only entries and kernels: the text without graphs. */
enum backend_status backend_emit_entries(const struct emission_job *job)
{
    print_without_graphs(job->text, job->module, job->comments);
    return BACKEND_OK;
}
