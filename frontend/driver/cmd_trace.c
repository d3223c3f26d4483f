/* skirc trace: dumps of what entries leave in memory about themselves: traces
 * (backend/runtime/skrt.h), and the profiling areas of the NPU (docs/ascend.md). */
#include "backend/target/run.h"
#include "frontend/driver/cmd.h"
#include "frontend/driver/graph_arguments.h"
#include "frontend/driver/lowered_input.h"
#include "frontend/driver/module_io.h"
#include "frontend/driver/shared_options.h"
#include "frontend/export/profile.h"
#include "ir/core/module.h"
#include "ir/support/file.h"
#include "ir/support/text.h"
#include "ir/syntax/spelling.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct trace_dump {
    const struct module *module; /* lowered; NULL: not known */
    const struct entry *entry;   /* whose dump it is where it does not say so; NULL: not known */
    const char *bytes;
    size_t size;
};

/* The entry of a name that may be cut off at 60 bytes, or NULL. */
static const struct entry *trace_dump_entry(const struct module *module, const char *name,
                                            size_t size)
{
    enum { ROOM = sizeof((struct skrt_trace_name *)0)->name };
    for (uint32_t i = 0; i < module->entries.count; i++) {
        const struct intern_name *own = &module->names.names[module->entries.at[i].name];
        bool cut = size == ROOM && own->size > ROOM;
        if ((own->size == size || cut) && memcmp(own->text, name, size) == 0)
            return &module->entries.at[i];
    }
    return NULL;
}

/* ---------------------------------------------------------------------------- instructions ---- */

/* A core's program, or NULL where it is not known. */
static const struct program *program_of(const struct entry *entry,
                                        const struct skrt_trace_line *line)
{
    return entry && line->type < CORE_TYPES ? &entry->programs[line->type] : NULL;
}

/* The place of a record in the program, or its end. */
static uint32_t find_record(const struct program *program, const struct skrt_trace_line *line)
{
    uint32_t i = 0;
    for (; i < program->instrs.count; i++) {
        const struct instr *instr = &program->instrs.at[i];
        if (instr->op == INSTR_trace && instr->number[0] == line->index &&
            instr->number[1] == line->state)
            break;
    }
    return i;
}

static bool is_told(const struct instr *instr)
{
    enum instr_place place = instr_info(instr->op)->place;
    return place != PLACE_RECORD && place != PLACE_AHEAD && place != PLACE_CACHE;
}

/* -------------------------------------------------------------------------------- states ---- */

static void put_fault(struct text *text, const struct skrt_trace_line *line)
{
    const char *type = core_type_name(line->other >> 16 ? CORE_AIV : CORE_AIC);
    if (line->fault)
        text_printf(text, "; a check failed: it has passed %u %s, but %s %u has %s %u of them",
                    line->expected, line->fault == 1 + SKRT_BARRIER ? "barriers" : "releases", type,
                    line->other & 0xffff, line->fault == 1 + SKRT_BARRIER ? "come to" : "made",
                    line->found);
}

static bool is_line(const struct skrt_trace_line *line)
{
    return line->magic == SKRT_TRACE_MAGIC && line->type < CORE_TYPES;
}

/* Whether what is said of two cores is the same. */
static bool is_alike(const struct skrt_trace_line *a, const struct skrt_trace_line *b)
{
    return is_line(b) && b->type == a->type && b->core == a->core + 1 && a->state == b->state &&
           a->index == b->index && !a->fault && !b->fault;
}

/* ---------------------------------------------------------------------------------- areas ---- */

/* A dump being read: its lines in turn. */
struct reading {
    const struct trace_dump *dump;
    size_t at; /* in bytes */
};

static bool next_line(struct reading *reading, struct skrt_trace_line *line)
{
    if (reading->dump->size - reading->at < sizeof *line)
        return false;
    memcpy(line, reading->dump->bytes + reading->at, sizeof *line);
    reading->at += sizeof *line;
    return true;
}

/* A core, with those behind it of which the same is said. */
static void put_cores(struct text *text, struct reading *reading, const struct entry *entry,
                      const struct skrt_trace_line *first)
{
    struct skrt_trace_line last = *first, next;
    struct reading ahead = *reading;
    while (next_line(&ahead, &next) && is_alike(&last, &next)) {
        last = next;
        *reading = ahead;
    }
    text_printf(text, "  %s %u", core_type_name(first->type), first->core);
    if (last.core != first->core)
        text_printf(text, "..%u", last.core);
    text_string(text, ": ");
    switch (first->state) {
    case TRACE_BEGUN: text_string(text, "has begun"); break;
    case TRACE_LAUNCHED: text_printf(text, "in op %u", first->index); break;
    case TRACE_FINISHED: text_printf(text, "behind op %u", first->index); break;
    case TRACE_ENDED: text_string(text, "has ended"); break;
    case TRACE_WAITING:
        text_printf(text, "before op %u, waits for the outside", first->index);
        break;
    case TRACE_RECEIVED: text_printf(text, "before op %u", first->index); break;
    default: text_printf(text, "in state %u of op %u", first->state, first->index); break;
    }
    /* What the core has to execute up to the next record. */
    const struct program *program = program_of(entry, first);
    const char *before = first->state == TRACE_LAUNCHED ? ": `" : "; then `";
    uint32_t i = program ? find_record(program, first) + 1 : 0;
    for (; program && i < program->instrs.count; i++) {
        const struct instr *instr = &program->instrs.at[i];
        if (instr->op == INSTR_trace)
            break;
        if (!is_told(instr))
            continue;
        text_string(text, before);
        spell_instr(text, reading->dump->module, entry, instr);
        text_char(text, '`');
        before = ", `";
    }
    put_fault(text, first);
    text_char(text, '\n');
}

static void put_missing(struct text *text, uint32_t *missing)
{
    if (*missing)
        text_printf(text, "  %u core%s not begun\n", *missing, *missing == 1 ? " has" : "s have");
    *missing = 0;
}

static bool is_empty(const struct skrt_trace_line *line)
{
    static const struct skrt_trace_line empty;
    return memcmp(line, &empty, sizeof empty) == 0;
}

/* Appends where each core stood; false where there are no traces. */
static bool trace_dump_cores(struct text *text, const struct trace_dump *dump)
{
    struct reading reading = {dump, 0};
    const struct entry *entry = dump->entry;
    struct skrt_trace_line line;
    uint32_t missing = 0;
    bool any = false;
    while (next_line(&reading, &line)) {
        if (line.magic == SKRT_TRACE_NAME) {
            put_missing(text, &missing);
            struct skrt_trace_name name;
            memcpy(&name, &line, sizeof name);
            size_t size = strnlen(name.name, sizeof name.name);
            text_printf(text, "launch of @%.*s\n", (int)size, name.name);
            entry = dump->module ? trace_dump_entry(dump->module, name.name, size) : NULL;
            any = true;
        } else if (is_line(&line)) {
            put_missing(text, &missing);
            put_cores(text, &reading, entry, &line);
            any = true;
        } else {
            missing += any && is_empty(&line);
        }
    }
    put_missing(text, &missing);
    return any;
}

/* ----------------------------------------------------------------------- profiling areas ---- */

enum {
    AREA_HEAD = 64,
    AREA_SIZE_AT = 12, /* of a core's part, in bytes */
    PART_HEAD = 24,
    FIRST_AIC = 50, /* parts before are of AIVs */
    PART_MAGIC = (int)0xbdca8756,
};

static uint32_t word_at(const struct trace_dump *dump, size_t at)
{
    uint32_t word = 0;
    if (at <= dump->size && dump->size - at >= sizeof word)
        memcpy(&word, dump->bytes + at, sizeof word);
    return word;
}

static uint64_t long_at(const struct trace_dump *dump, size_t at)
{
    return word_at(dump, at) | (uint64_t)word_at(dump, at + 4) << 32;
}

static bool trace_dump_is_profile(const struct trace_dump *dump)
{
    size_t size = word_at(dump, AREA_SIZE_AT);
    for (size_t at = AREA_HEAD; size >= PART_HEAD && at < dump->size; at += size)
        if (word_at(dump, at) == (uint32_t)PART_MAGIC)
            return true;
    return false;
}

struct profiling {
    const struct trace_dump *dump;
    struct run_profile profile;
    struct intern tasks; /* names of launches */
    uint64_t start;      /* the first record's ticks */
    uint64_t mhz;
};

/* The launch of a task. */
static uint32_t find_launch(struct profiling *p, uint32_t task)
{
    struct run_profile *profile = &p->profile;
    char name[24];
    int size = snprintf(name, sizeof name, "task %u", task);
    uint32_t launch = intern_copy(&p->tasks, name, (size_t)size);
    if (launch == profile->launches.count)
        vec_push(&profile->launches,
                 (struct run_profile_launch){
                     .name = arena_strndup(&profile->arena, name, (size_t)size)});
    return launch;
}

static void add_record(struct profiling *p, uint32_t core, uint32_t launch, uint64_t head,
                       uint64_t ticks)
{
    static const uint8_t kinds[] = {SKRT_PROFILE_KERNEL, SKRT_PROFILE_NOTIFY, SKRT_PROFILE_OP,
                                    SKRT_PROFILE_WAIT};
    uint32_t kind = (uint32_t)(head >> 8) & 0xf, index = (uint32_t)(head >> 32);
    struct run_profile_event event = {launch,
                                      {.ns = ticks,
                                       .index = kind == 8 ? index - 1 : index,
                                       .core = core < FIRST_AIC ? core : core - FIRST_AIC,
                                       .type = core < FIRST_AIC ? SKRT_AIV : SKRT_AIC,
                                       .kind = kinds[kind / 4],
                                       .phase = head >> 12 & 1 ? SKRT_END : SKRT_BEGIN}};
    vec_push(&p->profile.events, event);
    p->start = ticks < p->start ? ticks : p->start;
}

/* The first record says whose the next ones are; before it the part's head may have more. */
static void read_part(struct profiling *p, size_t begin, size_t size, uint32_t core)
{
    const struct trace_dump *dump = p->dump;
    uint64_t left = long_at(dump, begin + 16) - long_at(dump, begin + 8); /* of the part's end */
    size_t end = left <= size - PART_HEAD ? begin + size - (size_t)left : begin + size;
    uint32_t launch = NONE;
    for (size_t at = begin + PART_HEAD; at + 16 <= end && at + 16 <= dump->size;) {
        uint64_t head = long_at(dump, at), ticks = long_at(dump, at + 8);
        bool names = (uint32_t)head == (core << 8 | 0xff) && ticks;
        if (names)
            launch = find_launch(p, (uint32_t)(head >> 32));
        else if (launch != NONE && ticks)
            add_record(p, core, launch, head, ticks);
        at += launch == NONE ? 8 : 16;
    }
}

static bool trace_dump_profile(struct text *text, const struct trace_dump *dump, uint64_t mhz)
{
    struct profiling p = {.dump = dump, .start = UINT64_MAX, .mhz = mhz};
    size_t size = word_at(dump, AREA_SIZE_AT);
    uint32_t core = 0;
    vec_push(&p.profile.streams, "0");
    for (size_t at = AREA_HEAD; at < dump->size && core < FIRST_AIC + 1024; at += size, core++)
        if (word_at(dump, at) == (uint32_t)PART_MAGIC)
            read_part(&p, at, size, core);
    for (uint32_t i = 0; i < p.profile.events.count; i++) {
        struct skrt_profile_record *record = &p.profile.events.at[i].record;
        record->ns = (record->ns - p.start) * 1000 / p.mhz;
    }
    trace_events_write(text, &p.profile, false);
    intern_free(&p.tasks);
    vec_free(&p.profile.launches);
    vec_free(&p.profile.events);
    vec_free(&p.profile.streams);
    arena_free(&p.profile.arena);
    return true;
}

const struct option options_trace[] = {
    {"output", 'o', OPTION_VALUE, "FILE", "write there instead of standard output"},
    {"module", 0, OPTION_VALUE, "FILE.skir",
     "what was launched: its instructions are named. It is lowered as 'compile' does"},
    {"entry", 0, OPTION_VALUE, "NAME",
     "the module's entry, where it has several and the dump does not name them"},
    {"mhz", 0, OPTION_NUMBER(1, 1000000), "N", "ticks of a profiling area in a microsecond (50)"},
    BIND_OPTION,
    SHAPE_OPTION,
    SESSION_OPTIONS,
    PASS_PLUGIN_OPTION,
    {0},
};

/* The entry that --entry names; NULL where there is none of that name, which is reported. */
static bool find_entry(const struct invocation *invocation, const struct module *module,
                       const struct entry **entry)
{
    const char *name = option_value(invocation, "entry");
    *entry = module && module->entries.count == 1 ? &module->entries.at[0] : NULL;
    if (!name)
        return true;
    *entry = module ? trace_dump_entry(module, name, strlen(name)) : NULL;
    if (!*entry)
        input_error(invocation, "there is no entry '@%s'%s", name,
                    module ? "" : ": give its module by --module=FILE.skir");
    return *entry != NULL;
}

static enum exit_status put_dump(const struct invocation *invocation, const struct module *module,
                                 const struct file_bytes *bytes)
{
    uint64_t mhz = option_number(invocation, "mhz", 50);
    struct trace_dump dump = {.module = module, .bytes = bytes->data, .size = bytes->size};
    struct text text = {NULL, 0, 0};
    enum exit_status status = EXIT_USAGE;
    if (find_entry(invocation, module, &dump.entry)) {
        bool any = trace_dump_is_profile(&dump) ? trace_dump_profile(&text, &dump, mhz)
                                                : trace_dump_cores(&text, &dump);
        status = any ? write_output(invocation, option_value(invocation, "output"), &text)
                     : input_error(invocation, "'%s': it has neither a trace nor a profiling area",
                                   invocation->files[0]);
    }
    text_free(&text);
    return status;
}

enum exit_status cmd_trace(struct invocation *invocation)
{
    const char *module = option_value(invocation, "module");
    struct session_options wanted = {.sk_options = "debug-op-exec-trace=1", .unproven = true};
    struct lowered_input lowered;
    struct file_bytes bytes;
    enum exit_status status;
    char error[512];
    if (!file_read(invocation->files[0], &bytes, error, sizeof error))
        return input_error(invocation, "%s", error);
    if (!module) {
        status = put_dump(invocation, NULL, &bytes);
    } else {
        if (lowered_input_open(&lowered, invocation, module, &wanted, &status))
            status = put_dump(invocation, lowered.input.module, &bytes);
        status = lowered_input_close(&lowered, status);
    }
    file_bytes_free(&bytes);
    return status;
}
