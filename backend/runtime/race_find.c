/* The race check: which calls start without knowing enough, and the words for it (race_state.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/runtime/race_state.h"
#include "backend/runtime/shape.h"

/* ------------------------------------------------------------ findings ---- */

static int compare(uint32_t a, uint32_t b)
{
    return a < b ? -1 : a > b;
}

/* By op in list order; what has not drained comes first. */
static int finding_compare(const struct skrt_finding *a, const struct skrt_finding *b)
{
    int order = compare(a->op, b->op);
    order = order ? order : compare(b->undrained, a->undrained);
    order = order ? order : compare(a->before, b->before);
    order = order ? order : compare(a->type, b->type);
    return order ? order : compare(a->before_type, b->before_type);
}

/* Keeps what a core finds, at its place; the last one goes where there are too many. */
static void finding_insert(struct skrt_core *core, struct skrt_finding *at,
                           const struct skrt_finding *finding)
{
    struct skrt_race *race = skrt_race_of(core);
    struct skrt_finding *end = race->findings + race->n_findings;
    assert(race->findings <= at && at <= end && at < race->findings + SKRT_MAX_FINDINGS);
    const uint32_t *launched = race->job->launched;
    bool *missing = calloc((size_t)launched[finding->type] * launched[finding->before_type], 1);
    if (!missing)
        skrt_race_exhausted(core);
    if (race->n_findings == SKRT_MAX_FINDINGS)
        free((--end)->missing);
    else
        race->n_findings++;
    memmove(at + 1, at, (size_t)(end - at) * sizeof *at);
    *at = *finding;
    at->missing = missing;
}

/* The place for what a core finds among the findings that are kept, which are the first ones; NULL
 * where there are enough before it. */
static struct skrt_finding *finding_place(struct skrt_core *core,
                                          const struct skrt_finding *finding)
{
    struct skrt_race *race = skrt_race_of(core);
    struct skrt_finding *at = race->findings, *end = at + race->n_findings;
    while (at < end && finding_compare(at, finding) < 0)
        at++;
    if (at == race->findings + SKRT_MAX_FINDINGS)
        return NULL;
    if (at == end || finding_compare(at, finding) != 0)
        finding_insert(core, at, finding);
    return at;
}

/* Counts a bit that was not found before. */
static void count_bit(struct skrt_race *race, uint8_t *found, unsigned bit, uint32_t *objects)
{
    *objects += *found == 0;
    race->total += !(*found >> bit & 1);
    *found = (uint8_t)(*found | 1 << bit);
}

static void check_drained(struct skrt_core *core, uint32_t op)
{
    struct skrt_race *race = skrt_race_of(core);
    uint32_t undrained = skrt_race_state(core)->undrained;
    if (undrained == 0)
        return;
    count_bit(race, &race->found_undrained[op], core->type, &race->undrained);
    struct skrt_finding key = {.op = op,
                               .before = skrt_race_op(race, core->type, undrained),
                               .type = core->type,
                               .before_type = core->type,
                               .undrained = true};
    struct skrt_finding *finding = finding_place(core, &key);
    if (finding)
        finding->missing[core->index * race->job->launched[core->type] + core->index] = true;
}

/* Marks the cores of a type where the core does not know a call to be complete, as far as that call
 * includes them. What is not executed anywhere yet may include any. Of its own calls, it knows
 * those that it has gone through: whether they have drained is a finding of its own. Returns
 * whether there is one to mark. */
static bool mark_missing(const struct skrt_core *core, enum skrt_core_type type, uint32_t number,
                         bool *missing)
{
    const struct skrt_race *race = skrt_race_of(core);
    const struct skrt_core *cores = core->job->cores[type];
    const struct skrt_call *ran = skrt_race_ran(race, type, number);
    const uint32_t *known = skrt_race_state(core)->known;
    bool any = false;
    for (uint32_t i = 0; i < race->job->launched[type]; i++) {
        uint64_t knows = &cores[i] == core ? core->calls - 1 : known[skrt_race_id(race, type, i)];
        bool is_missing =
            knows < number && (ran->blocks == 0 || skrt_core_included(&cores[i], ran));
        any = any || is_missing;
        if (missing)
            missing[i] = is_missing;
    }
    return any;
}

/* Whether an op is known to be complete on the cores of a type. */
static void check_order(struct skrt_core *core, uint32_t order, enum skrt_core_type type)
{
    struct skrt_race *race = skrt_race_of(core);
    const struct skrt_order *required = &race->check->orders[order];
    uint32_t number = race->number[type][required->before];
    if (number == 0 || !mark_missing(core, type, number, NULL))
        return;
    count_bit(race, &race->found[order], core->type * SKRT_CORE_TYPES + type, &race->broken);
    struct skrt_finding key = {
        .op = required->op, .before = required->before, .type = core->type, .before_type = type};
    struct skrt_finding *finding = finding_place(core, &key);
    if (finding)
        mark_missing(core, type, number,
                     finding->missing + (size_t)core->index * race->job->launched[type]);
}

static void check_orders(struct skrt_core *core, uint32_t op)
{
    const struct skrt_race *race = skrt_race_of(core);
    for (uint32_t i = race->first[op]; i < race->first[op + 1]; i++)
        for (int type = 0; type < SKRT_CORE_TYPES; type++)
            check_order(core, race->orders[i], (enum skrt_core_type)type);
}

/* --------------------------------------------------------------- calls ---- */

static void follow_call(struct skrt_core *core, const struct skrt_call *call, bool included)
{
    struct skrt_race *race = skrt_race_of(core);
    struct skrt_knowledge *state = skrt_race_state(core);
    if (core->calls > race->check->n_calls[core->type])
        skrt_core_fail(core, SKRT_MISUSE, "the race check does not know this call");
    *skrt_race_ran(race, core->type, core->calls) = *call;
    if (included) {
        uint32_t op = skrt_race_op(race, core->type, core->calls);
        check_drained(core, op);
        state->undrained = (uint32_t)core->calls;
        check_orders(core, op);
    } else if (state->undrained == 0) {
        state->known[skrt_race_id(race, core->type, core->index)] = (uint32_t)core->calls;
    }
}

void skrt_race_call(struct skrt_core *core, const struct skrt_call *call, bool included)
{
    skrt_core_enter(core);
    follow_call(core, call, included);
    skrt_core_leave(core);
}

/* ------------------------------------------------------------- reports ---- */

bool skrt_race_found(const struct skrt_job *job)
{
    return job->race && job->race->total > 0;
}

void skrt_race_cause(const struct skrt_job *job, char *text, size_t size)
{
    const struct skrt_race *race = job->race;
    int n = 0;
    if (race->broken > 0)
        n = snprintf(text, size, "%u required order%s not enforced", race->broken,
                     race->broken == 1 ? " is" : "s are");
    if (race->undrained > 0 && n >= 0 && (size_t)n < size)
        snprintf(text + n, size - (size_t)n, "%s%u op%s where the call before has not drained",
                 n > 0 ? ", " : "", race->undrained, race->undrained == 1 ? " starts" : "s start");
}

/* The cores that a finding's op started on without knowing, and where they did not know it. Calls
 * that were not executed yet then, and may have been since, say now whom they include. */
struct situation {
    bool started[SKRT_MAX_CORES], missing[SKRT_MAX_CORES];
    uint32_t first; /* core that started, or how many there are */
    bool alike;     /* all of them miss the same */
};

static bool is_missing(const struct skrt_race *race, const struct skrt_finding *finding,
                       uint32_t core, uint32_t at)
{
    const struct skrt_job *job = race->job;
    uint32_t number = race->number[finding->before_type][finding->before];
    const struct skrt_call *ran = skrt_race_ran(race, finding->before_type, number);
    return finding->missing[(size_t)core * job->launched[finding->before_type] + at] &&
           (ran->blocks == 0 || skrt_core_included(&job->cores[finding->before_type][at], ran));
}

static void sum_up(const struct skrt_race *race, const struct skrt_finding *finding,
                   struct situation *situation)
{
    uint32_t n = race->job->launched[finding->type];
    uint32_t before = race->job->launched[finding->before_type];
    memset(situation, 0, sizeof *situation);
    situation->alike = true;
    situation->first = n;
    for (uint32_t core = 0; core < n; core++) {
        for (uint32_t at = 0; at < before; at++) {
            bool missing = is_missing(race, finding, core, at);
            situation->started[core] |= missing;
            situation->missing[at] |= missing;
        }
        if (!situation->started[core])
            continue;
        if (situation->first == n)
            situation->first = core;
        for (uint32_t at = 0; at < before; at++)
            situation->alike &= is_missing(race, finding, core, at) ==
                                is_missing(race, finding, situation->first, at);
    }
}

static const char *op_name(const struct skrt_race *race, uint32_t op)
{
    const char *name = race->check->names ? race->check->names[op] : NULL;
    return name ? name : "?";
}

static void print_finding(FILE *out, const struct skrt_race *race,
                          const struct skrt_finding *finding)
{
    const uint32_t *launched = race->job->launched;
    struct situation situation;
    sum_up(race, finding, &situation);
    fputs("  ", out);
    skrt_print_cores(out, finding->type, situation.started, launched[finding->type]);
    if (finding->undrained) {
        fprintf(out, ": started %s before %s had drained there\n", op_name(race, finding->op),
                op_name(race, finding->before));
        return;
    }
    fprintf(out, ": started %s without knowing that %s was complete on ",
            op_name(race, finding->op), op_name(race, finding->before));
    if (situation.alike) {
        skrt_print_cores(out, finding->before_type, situation.missing,
                         launched[finding->before_type]);
    } else {
        bool missing[SKRT_MAX_CORES];
        for (uint32_t at = 0; at < launched[finding->before_type]; at++)
            missing[at] = is_missing(race, finding, situation.first, at);
        fputs("all cores, for example ", out);
        skrt_print_range(out, finding->type, situation.first, situation.first);
        fputs(" on ", out);
        skrt_print_cores(out, finding->before_type, missing, launched[finding->before_type]);
    }
    fputc('\n', out);
}

void skrt_race_print(FILE *out, const struct skrt_job *job)
{
    const struct skrt_race *race = job->race;
    for (uint32_t i = 0; i < race->n_findings; i++)
        print_finding(out, race, &race->findings[i]);
    if (race->total > race->n_findings)
        fprintf(out, "  and %u more of this kind\n", race->total - race->n_findings);
}
