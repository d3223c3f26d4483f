/* The race check: which calls start without knowing enough, and the words for it (skrt_race.h). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/runtime/race.h"

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

/* The place for a finding among those that are kept, which are the first ones; NULL where there are
 * enough before it. `*memory` is false where there is none. */
static struct skrt_finding *finding_place(struct skrt_race *race,
                                          const struct skrt_finding *finding, bool *memory)
{
    struct skrt_finding *at = race->findings, *end = at + race->n_findings;
    while (at < end && finding_compare(at, finding) < 0)
        at++;
    if (at < end && finding_compare(at, finding) == 0)
        return at;
    if (at == race->findings + SKRT_MAX_FINDINGS)
        return NULL;
    const uint32_t *launched = race->device->launched;
    bool *missing = calloc((size_t)launched[finding->type] * launched[finding->before_type], 1);
    *memory = missing != NULL;
    if (!missing)
        return NULL;
    if (race->n_findings == SKRT_MAX_FINDINGS)
        free((--end)->missing);
    else
        race->n_findings++;
    memmove(at + 1, at, (size_t)(end - at) * sizeof *at);
    *at = *finding;
    at->missing = missing;
    return at;
}

/* Counts a bit that was not found before. */
static void count_bit(struct skrt_race *race, uint8_t *found, unsigned bit, uint32_t *objects)
{
    *objects += *found == 0;
    race->total += !(*found >> bit & 1);
    *found = (uint8_t)(*found | 1 << bit);
}

static const char *check_drained(struct skrt_core *core, uint32_t op)
{
    struct skrt_race *race = skrt_race_of(core);
    uint32_t undrained = skrt_race_state(core)->undrained;
    bool memory = true;
    if (undrained == 0)
        return NULL;
    count_bit(race, &race->found_undrained[op], core->type, &race->undrained);
    struct skrt_finding key = {.op = op,
                               .before = race->check->calls[core->type][undrained - 1],
                               .type = core->type,
                               .before_type = core->type,
                               .undrained = true};
    struct skrt_finding *finding = finding_place(race, &key, &memory);
    if (finding)
        finding->missing[core->index * race->device->launched[core->type] + core->index] = true;
    return memory ? NULL : skrt_race_no_memory;
}

/* Whether the core knows a call of another, or has itself gone through it: whether that has drained
 * is a finding of its own. */
static bool knows(const struct skrt_core *core, uint32_t id, uint32_t number)
{
    if (id == skrt_race_id(skrt_race_of(core), core->type, core->index))
        return core->calls - 1 >= number;
    return skrt_race_state(core)->known[id] >= number;
}

/* Marks the cores of a type where the core does not know a call to be complete, as far as that call
 * includes them. What is not executed anywhere yet may include any. Returns whether there is one. */
static bool mark_missing(const struct skrt_core *core, enum skrt_core_type type, uint32_t number,
                         bool *missing)
{
    const struct skrt_device *device = core->device;
    const struct skrt_call *ran = &device->race->ran[type][number - 1];
    bool any = false;
    for (uint32_t i = 0; i < device->launched[type]; i++) {
        bool is_missing = !knows(core, skrt_race_id(device->race, type, i), number) &&
                          (ran->blocks == 0 || skrt_core_included(&device->cores[type][i], ran));
        any = any || is_missing;
        if (missing)
            missing[i] = is_missing;
    }
    return any;
}

/* Whether an op is known to be complete on the cores of a type. */
static const char *check_order(struct skrt_core *core, uint32_t order, enum skrt_core_type type)
{
    struct skrt_race *race = skrt_race_of(core);
    const struct skrt_order *required = &race->check->orders[order];
    uint32_t number = race->number[type][required->before];
    bool memory = true;
    if (number == 0 || !mark_missing(core, type, number, NULL))
        return NULL;
    count_bit(race, &race->found[order], core->type * SKRT_CORE_TYPES + type, &race->broken);
    struct skrt_finding key = {
        .op = required->op, .before = required->before, .type = core->type, .before_type = type};
    struct skrt_finding *finding = finding_place(race, &key, &memory);
    if (finding)
        mark_missing(core, type, number,
                     finding->missing + (size_t)core->index * race->device->launched[type]);
    return memory ? NULL : skrt_race_no_memory;
}

static const char *check_orders(struct skrt_core *core, uint32_t op)
{
    const struct skrt_race *race = skrt_race_of(core);
    for (uint32_t i = race->first[op]; i < race->first[op + 1]; i++)
        for (int type = 0; type < SKRT_CORE_TYPES; type++) {
            const char *why = check_order(core, race->orders[i], (enum skrt_core_type)type);
            if (why)
                return why;
        }
    return NULL;
}

/* --------------------------------------------------------------- calls ---- */

const char *skrt_race_call(struct skrt_core *core, const struct skrt_call *call, bool included)
{
    struct skrt_race *race = skrt_race_of(core);
    const struct skrt_race_check *check = race->check;
    struct skrt_knowledge *state = skrt_race_state(core);
    if (core->calls > check->n_calls[core->type])
        return "the race check does not know this call";
    race->ran[core->type][core->calls - 1] = *call;
    if (!included) {
        if (state->undrained == 0)
            state->known[skrt_race_id(race, core->type, core->index)] = (uint32_t)core->calls;
        return NULL;
    }
    uint32_t op = check->calls[core->type][core->calls - 1];
    const char *why = check_drained(core, op);
    state->undrained = (uint32_t)core->calls;
    return why ? why : check_orders(core, op);
}

/* ------------------------------------------------------------- reports ---- */

bool skrt_race_found(const struct skrt_device *device)
{
    return device->race && device->race->total > 0;
}

void skrt_race_cause(const struct skrt_device *device, char *text, size_t size)
{
    const struct skrt_race *race = device->race;
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
    uint32_t first; /* core that started */
    bool alike;     /* all of them miss the same */
};

static bool is_missing(const struct skrt_race *race, const struct skrt_finding *finding,
                       uint32_t core, uint32_t at)
{
    const struct skrt_device *device = race->device;
    uint32_t number = race->number[finding->before_type][finding->before];
    const struct skrt_call *ran = &race->ran[finding->before_type][number - 1];
    return finding->missing[(size_t)core * device->launched[finding->before_type] + at] &&
           (ran->blocks == 0 || skrt_core_included(&device->cores[finding->before_type][at], ran));
}

static void sum_up(const struct skrt_race *race, const struct skrt_finding *finding,
                   struct situation *situation)
{
    uint32_t n = race->device->launched[finding->type];
    uint32_t before = race->device->launched[finding->before_type];
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
    const uint32_t *launched = race->device->launched;
    struct situation situation;
    sum_up(race, finding, &situation);
    fputs("  ", out);
    skrt_report_cores(out, finding->type, situation.started, launched[finding->type]);
    if (finding->undrained) {
        fprintf(out, ": started %s before %s had drained there\n", op_name(race, finding->op),
                op_name(race, finding->before));
        return;
    }
    fprintf(out, ": started %s without knowing that %s was complete on ",
            op_name(race, finding->op), op_name(race, finding->before));
    if (situation.alike) {
        skrt_report_cores(out, finding->before_type, situation.missing,
                          launched[finding->before_type]);
    } else {
        bool missing[SKRT_MAX_CORES];
        for (uint32_t at = 0; at < launched[finding->before_type]; at++)
            missing[at] = is_missing(race, finding, situation.first, at);
        fputs("all cores, for example ", out);
        skrt_report_core(out, finding->type, situation.first);
        fputs(" on ", out);
        skrt_report_cores(out, finding->before_type, missing, launched[finding->before_type]);
    }
    fputc('\n', out);
}

void skrt_race_print(FILE *out, const struct skrt_device *device)
{
    const struct skrt_race *race = device->race;
    for (uint32_t i = 0; i < race->n_findings; i++)
        print_finding(out, race, &race->findings[i]);
    if (race->total > race->n_findings)
        fprintf(out, "  and %u more of this kind\n", race->total - race->n_findings);
}
