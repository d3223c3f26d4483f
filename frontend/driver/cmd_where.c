/* skirc where: where the code of a kernel's launch comes from, by the table in its metadata
 * (docs/kernel-meta.schema.json). */
#include "frontend/driver/cmd.h"
#include "frontend/driver/module_io.h"
#include "ir/support/diag.h"
#include "ir/support/file.h"
#include "ir/support/ids.h"
#include "ir/support/json_document.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ----------------------------------------------------------------------------- tables ---- */

struct place_op {
    const char *text, *at; /* at: NULL where it has no place */
};

struct place_instr {
    const char *core, *text;
    uint32_t line;
    uint32_t op, behind, before; /* ops, or NONE */
};

struct place_row {
    uint64_t offset;
    uint32_t line;
};

/* A part of the entry, which has rows, or a function of kernels. */
struct place_code {
    const char *core, *function;
    uint64_t begin, end;
    uint32_t copy; /* NONE: of the entry */
    struct vec_u32 ops;
    VEC(struct place_row) rows;
};

struct kernel_launch {
    const char *name;
    uint32_t lines; /* of the source */
    VEC(struct place_op) ops;
    VEC(struct place_instr) instrs;
    VEC(struct place_code) code;
};

/* Texts are in the document. */
struct kernel_places {
    struct json_document document;
    const char *entry; /* the only launch that is read; NULL: all are */
    VEC(struct kernel_launch) launches;
    struct kernel_launch launch; /* that is being read */
    bool listed;                 /* several are in one object, with a table of gears */
    bool have_addresses;         /* the metadata were made with an object */
};

static void free_launch(struct kernel_launch *launch)
{
    for (uint32_t i = 0; i < launch->code.count; i++) {
        vec_free(&launch->code.at[i].ops);
        vec_free(&launch->code.at[i].rows);
    }
    vec_free(&launch->code);
    vec_free(&launch->instrs);
    vec_free(&launch->ops);
}

/* ---------------------------------------------------------------------------- reading ---- */

/* Of members that are not there, the fallback. */
static const char *text_of(struct kernel_places *places, const cJSON *object, const char *key,
                           const char *fallback)
{
    const cJSON *member = json_member(object, key);
    const char *text = member ? json_as_text(&places->document, member) : NULL;
    return text ? text : fallback;
}

static uint64_t offset_of(struct kernel_places *places, const cJSON *item)
{
    int64_t value = 0;
    return item && json_as_integer(&places->document, item, 0, INT64_MAX, &value) ? (uint64_t)value
                                                                                  : 0;
}

static uint32_t number_of(struct kernel_places *places, const cJSON *item, uint32_t fallback)
{
    int64_t value;
    return item && json_as_integer(&places->document, item, 0, UINT32_MAX - 1, &value)
               ? (uint32_t)value
               : fallback;
}

/* Reads the items of a list, which may be absent. */
static void read_list(struct kernel_places *places, const cJSON *list, int kind,
                      void (*read)(struct kernel_places *places, const cJSON *item))
{
    const cJSON *item;
    if (!list || cJSON_IsNull(list))
        return;
    for (EACH_JSON(&places->document, item, list, cJSON_Array))
        if (json_want(&places->document, item, kind))
            read(places, item);
}

static void read_op(struct kernel_places *places, const cJSON *item)
{
    vec_push(&places->launch.ops, (struct place_op){text_of(places, item, "text", "?"),
                                                    text_of(places, item, "at", NULL)});
}

static void read_instr(struct kernel_places *places, const cJSON *item)
{
    struct place_instr instr = {.core = text_of(places, item, "core", "?"),
                                .text = text_of(places, item, "text", "?"),
                                .line = number_of(places, json_member(item, "line"), 0),
                                .op = number_of(places, json_member(item, "op"), NONE),
                                .behind = number_of(places, json_member(item, "behind"), NONE),
                                .before = number_of(places, json_member(item, "before"), NONE)};
    vec_push(&places->launch.instrs, instr);
}

static struct place_code *last_code(struct kernel_places *places)
{
    return &places->launch.code.at[places->launch.code.count - 1];
}

static void read_code_op(struct kernel_places *places, const cJSON *item)
{
    vec_push(&last_code(places)->ops, number_of(places, item, NONE));
}

/* [OFFSET, LINE] */
static void read_row(struct kernel_places *places, const cJSON *item)
{
    struct place_row row = {offset_of(places, cJSON_GetArrayItem(item, 0)),
                            number_of(places, cJSON_GetArrayItem(item, 1), 0)};
    vec_push(&last_code(places)->rows, row);
}

static void read_code(struct kernel_places *places, const cJSON *item)
{
    struct place_code code = {.core = text_of(places, item, "core", "?"),
                              .function = text_of(places, item, "function", "?"),
                              .begin = offset_of(places, json_member(item, "begin")),
                              .end = offset_of(places, json_member(item, "end")),
                              .copy = number_of(places, json_member(item, "copy"), NONE)};
    vec_push(&places->launch.code, code);
    read_list(places, json_member(item, "ops"), cJSON_Number, read_code_op);
    read_list(places, json_member(item, "lines"), cJSON_Array, read_row);
}

static void read_launch(struct kernel_places *places, const cJSON *item)
{
    struct kernel_launch *launch = &places->launch;
    const cJSON *entries = places->listed ? NULL : json_member(item, "entries");
    const cJSON *table = json_member(item, "skir"), *code = json_member(table, "code");
    if (entries) {
        places->listed = true;
        read_list(places, entries, cJSON_Object, read_launch);
        return;
    }
    *launch = (struct kernel_launch){.name = text_of(places, item, "kernelName", "?")};
    if (!table) {
        json_fail(&places->document, item,
                  "these are no metadata of a super kernel that skirc made: they have no "
                  "'skir'");
    } else if (json_want(&places->document, table, cJSON_Object)) {
        launch->lines = number_of(places, json_member(table, "source_lines"), 0);
        read_list(places, json_member(table, "ops"), cJSON_Object, read_op);
        read_list(places, json_member(table, "instructions"), cJSON_Object, read_instr);
        read_list(places, code, cJSON_Object, read_code);
    }
    if (places->entry && strcmp(launch->name, places->entry) != 0) {
        free_launch(launch);
        return;
    }
    places->have_addresses |= code && !cJSON_IsNull(code);
    vec_push(&places->launches, *launch);
}

/* Reads the metadata of one kernel or several. False, with diagnostics, where there is no table or
 * it is malformed. */
static bool read_places(struct kernel_places *places, const struct source *source,
                        struct diags *diags)
{
    const cJSON *root;
    if (!json_document_read(&places->document, source, 0, diags))
        return false;
    root = places->document.root;
    if (cJSON_IsArray(root))
        read_list(places, root, cJSON_Object, read_launch);
    else if (json_want(&places->document, root, cJSON_Object))
        read_launch(places, root);
    return !places->document.failed;
}

/* ----------------------------------------------------------------------------- answers ---- */

static void put_op(const struct kernel_launch *launch, uint32_t op, const char *how,
                   struct text *text)
{
    if (op >= launch->ops.count)
        return;
    text_printf(text, "  %s%s", how, launch->ops.at[op].text);
    if (launch->ops.at[op].at)
        text_printf(text, ", %s", launch->ops.at[op].at);
    text_char(text, '\n');
}

static const char *cores(const char *core)
{
    return strcmp(core, "aic") == 0 ? "AICs" : strcmp(core, "aiv") == 0 ? "AIVs" : core;
}

static void put_instr(const struct kernel_launch *launch, const struct place_instr *instr,
                      struct text *text)
{
    text_printf(text, "'@%s', %s: %s\n", launch->name, cores(instr->core), instr->text);
    put_op(launch, instr->op, "", text);
    put_op(launch, instr->behind, "behind ", text);
    put_op(launch, instr->before, "before ", text);
}

/* The last statement up to a line of the source: of a core type, or NULL for all. */
static const struct place_instr *instr_at(const struct kernel_launch *launch, const char *core,
                                          uint32_t line)
{
    const struct place_instr *found = NULL;
    for (uint32_t i = 0; i < launch->instrs.count; i++) {
        const struct place_instr *instr = &launch->instrs.at[i];
        if (instr->line <= line && (!found || found->line <= instr->line) &&
            (!core || strcmp(core, instr->core) == 0))
            found = instr;
    }
    return found;
}

/* Appends what is in a line of the source. False where nothing is there. */
static bool put_line(const struct kernel_places *places, uint32_t line, struct text *text)
{
    const struct kernel_launch *launch = NULL;
    const struct place_instr *found = NULL;
    for (uint32_t k = 0; k < places->launches.count; k++) {
        const struct kernel_launch *other = &places->launches.at[k];
        const struct place_instr *instr = line <= other->lines ? instr_at(other, NULL, line) : NULL;
        if (!instr || (found && found->line > instr->line))
            continue;
        launch = other;
        found = instr;
    }
    if (found)
        put_instr(launch, found, text);
    return found;
}

/* The line of code in a part of an entry; 0 where that is not known. Lines above the part's first
 * statement are those of functions that are inlined, once code of the statements has begun. */
static uint32_t line_at(const struct kernel_launch *launch, const struct place_code *code,
                        uint64_t address)
{
    uint32_t line = 0;
    for (uint32_t i = 0; i < code->rows.count; i++) {
        const struct place_row *row = &code->rows.at[i];
        if (row->offset <= address - code->begin &&
            (instr_at(launch, code->core, row->line) || !instr_at(launch, code->core, line)))
            line = row->line;
    }
    return line;
}

/* Behind the last statement of a part may stand those of the other one, and the entry's end. */
static void put_part(const struct kernel_launch *launch, const struct place_code *code,
                     uint32_t line, struct text *text)
{
    const struct place_instr *instr = instr_at(launch, code->core, line);
    if (instr && instr == instr_at(launch, NULL, line))
        put_instr(launch, instr, text);
    else
        text_printf(text, "'@%s', %s: %s\n", launch->name, cores(code->core),
                    instr ? "at the end, behind its last instruction"
                          : "before its first instruction");
}

static void put_code(const struct kernel_launch *launch, const struct place_code *code,
                     uint64_t address, struct text *text)
{
    uint32_t line = code->copy == NONE ? line_at(launch, code, address) : 0;
    text_printf(text, "%s + 0x%llx", code->function, (unsigned long long)(address - code->begin));
    if (line)
        text_printf(text, ", line %u of the source", line);
    text_char(text, '\n');
    if (code->copy == NONE) {
        put_part(launch, code, line, text);
        return;
    }
    text_printf(text, "'@%s', %s: a kernel, copy %u of its code, called by\n", launch->name,
                cores(code->core), code->copy);
    for (uint32_t i = 0; i < code->ops.count; i++)
        put_op(launch, code->ops.at[i], "", text);
}

/* Appends what the code at an offset is of. False where none is there, or the metadata do not have
 * it. */
static bool put_address(const struct kernel_places *places, uint64_t address, struct text *text)
{
    bool found = false;
    for (uint32_t k = 0; k < places->launches.count; k++) {
        const struct kernel_launch *launch = &places->launches.at[k];
        for (uint32_t i = 0; i < launch->code.count; i++) {
            const struct place_code *code = &launch->code.at[i];
            if (address < code->begin || address >= code->end)
                continue;
            put_code(launch, code, address, text);
            found = true;
        }
    }
    return found;
}

/* The same for an address on the device, where a core type of the only launch began with its part
 * of the entry at `start`. */
static bool put_device_address(const struct kernel_places *places, const char *core,
                               uint64_t address, uint64_t start, struct text *text)
{
    const struct kernel_launch *launch = &places->launches.at[0];
    for (uint32_t i = 0; i < launch->code.count; i++)
        if (launch->code.at[i].copy == NONE && strcmp(launch->code.at[i].core, core) == 0)
            return put_address(places, launch->code.at[i].begin + (address - start), text);
    return false;
}

/* ------------------------------------------------------------------------------ traces ---- */

/* A line of 64 bytes, which begins with two words of 64 bits. */
enum { LINE = 64, LINE_MAGIC = 0x54524b53 };

struct trace_line {
    uint32_t magic;
    uint16_t core;
    uint8_t type, fault; /* fault: a check that failed, from 1 */
    uint32_t index, state;
};

static const char *const line_cores[] = {"aic", "aiv"};

static bool read_line(const char *bytes, struct trace_line *line)
{
    memcpy(line, bytes, sizeof *line);
    return line->magic == LINE_MAGIC && line->type < sizeof line_cores / sizeof *line_cores;
}

/* The record that the line was last written by, or NONE. */
static uint32_t find_record(const struct kernel_launch *launch, const struct trace_line *line)
{
    char text[40];
    snprintf(text, sizeof text, "trace %u %u", line->index, line->state);
    for (uint32_t i = 0; i < launch->instrs.count; i++)
        if (strcmp(launch->instrs.at[i].text, text) == 0 &&
            strcmp(launch->instrs.at[i].core, line_cores[line->type]) == 0)
            return i;
    return NONE;
}

/* What the core has begun or had to execute up to the next record, and the ops around that. */
static void put_stand(const struct kernel_launch *launch, uint32_t record, struct text *text)
{
    const struct place_instr *at = &launch->instrs.at[record];
    const char *before = "  at ";
    for (uint32_t i = record + 1; i < launch->instrs.count; i++) {
        const struct place_instr *instr = &launch->instrs.at[i];
        if (strcmp(instr->core, at->core) != 0 || (strncmp(instr->text, "trace ", 6) == 0))
            break;
        text_printf(text, "%s`%s`", before, instr->text);
        before = ", then ";
        at = instr->op != NONE || at->op == NONE ? instr : at;
    }
    text_string(text, *before == ' ' ? "  at the end\n" : "\n");
    put_op(launch, at->op, "in ", text);
    put_op(launch, at->behind, "behind ", text);
    put_op(launch, at->before, "before ", text);
}

/* Appends, for each core with a line in a buffer of traces (docs/ascend.md), its op and its next
 * instruction. False where no core has one, or the launch records no traces. */
static bool put_trace(const struct kernel_launch *launch, const struct file_bytes *bytes,
                      struct text *text)
{
    struct trace_line line, next;
    bool found = false;
    for (size_t at = 0; bytes->size - at >= LINE; at += LINE) {
        uint32_t record = read_line(bytes->data + at, &line) ? find_record(launch, &line) : NONE;
        if (record == NONE)
            continue;
        uint32_t last = line.core;
        while (!line.fault && bytes->size - at >= 2 * LINE &&
               read_line(bytes->data + at + LINE, &next) && !next.fault && next.type == line.type &&
               next.core == last + 1 && next.index == line.index && next.state == line.state) {
            last++;
            at += LINE;
        }
        text_printf(text, "'@%s', %s %u", launch->name, line.type ? "AIV" : "AIC", line.core);
        if (last != line.core)
            text_printf(text, "..%u", last);
        text_string(text, line.fault ? ": ended by a failed check\n" : ":\n");
        put_stand(launch, record, text);
        found = true;
    }
    return found;
}

/* ----------------------------------------------------------------------------- command ---- */

const struct option options_where[] = {
    {"pc", 0, OPTION_VALUE, "OFFSET", "an address in the linked object's code, from its begin"},
    {"start", 0, OPTION_VALUE, "ADDRESS",
     "--pc is an address on the device, where this core type began with the entry"},
    {"core", 0, OPTION_WORD("aic", "aiv"), "TYPE", "of --start: aic or aiv"},
    {"line", 0, OPTION_NUMBER(1, UINT32_MAX - 1), "N", "a line of the source, in AscendC"},
    {"trace", 0, OPTION_VALUE, "FILE",
     "what a launch with debug-op-exec-trace=1 has left in its buffer"},
    {"entry", 0, OPTION_VALUE, "NAME", "of metadata of several kernels: the one that is meant"},
    {0},
};

/* What is asked for. */
struct question {
    bool line;
    uint64_t number;
    const char *core; /* of `start`; NULL: the number is an offset */
    uint64_t start;
    const char *trace, *entry;
};

static bool read_address(struct invocation *invocation, const char *text, uint64_t *address)
{
    char *end;
    errno = 0;
    *address = strtoull(text, &end, 0);
    if (*text >= '0' && *text <= '9' && *end == '\0' && errno == 0)
        return true;
    return usage_fail(invocation, "'%s' is no address: a number, or one behind 0x", text);
}

static bool read_question(struct invocation *invocation, struct question *question)
{
    const char *pc = option_value(invocation, "pc"), *start = option_value(invocation, "start");
    *question = (struct question){.line = option_given(invocation, "line"),
                                  .core = option_value(invocation, "core"),
                                  .trace = option_value(invocation, "trace"),
                                  .entry = option_value(invocation, "entry")};
    question->number = option_number(invocation, "line", 0);
    if ((pc != NULL) + question->line + (question->trace != NULL) != 1)
        return usage_fail(invocation, "either --pc or --line or --trace says what is asked for");
    if ((start != NULL) != (question->core != NULL) || (start && !pc))
        return usage_fail(invocation, "--start and --core belong together, and to --pc");
    return (!start || read_address(invocation, start, &question->start)) &&
           (!pc || read_address(invocation, pc, &question->number));
}

/* Appends the answer; false, with a diagnostic, where there is none. */
static bool answer(struct diags *diags, const struct kernel_places *places,
                   const struct question *question, struct text *text)
{
    struct file_bytes bytes;
    char error[512];
    unsigned long long number = question->number;
    /* Traces and addresses of the device are those of one launch. */
    if ((question->entry || question->trace || question->core) && places->launches.count != 1) {
        if (question->entry)
            diag_at(diags, DIAG_no_place, no_span, "the metadata have no kernel '%s'",
                    question->entry);
        else if (diag_at(diags, DIAG_no_place, no_span, "the metadata are of several kernels"))
            diag_help(diags, "name the one that was launched by --entry=NAME");
        return false;
    }
    if (question->trace) {
        if (!file_read(question->trace, &bytes, error, sizeof error)) {
            diag_at(diags, DIAG_file, no_span, "%s", error);
            return false;
        }
        bool found = put_trace(&places->launches.at[0], &bytes, text);
        if (!found)
            diag_at(diags, DIAG_no_place, no_span,
                    "'%s' has no trace of this kernel, or the kernel was compiled without "
                    "debug-op-exec-trace=1",
                    question->trace);
        file_bytes_free(&bytes);
        return found;
    }
    if (question->line   ? put_line(places, (uint32_t)number, text)
        : question->core ? put_device_address(places, question->core, number, question->start, text)
                         : put_address(places, number, text))
        return true;
    if (question->line)
        diag_at(diags, DIAG_no_place, no_span, "line %llu of the source is no instruction's",
                number);
    else if (places->have_addresses)
        diag_at(diags, DIAG_no_place, no_span,
                "at 0x%llx there is no code that the metadata tell of", number);
    else if (diag_at(diags, DIAG_no_place, no_span,
                     "the metadata hold no addresses: they were made without an object"))
        diag_help(diags, "make the object with 'skirc compile --target=ascend -o OUT.o', which "
                         "writes OUT.json, or ask for a --line of the source");
    return false;
}

enum exit_status cmd_where(struct invocation *invocation)
{
    struct question question;
    struct input input;
    struct text text = {NULL, 0, 0};
    enum exit_status status = EXIT_INPUT;
    if (!read_question(invocation, &question))
        return EXIT_USAGE;
    struct kernel_places places = {.entry = question.entry};
    if (input_open_foreign(&input, invocation, invocation->files[0]) &&
        read_places(&places, &input.source, &input.diags) &&
        answer(&input.diags, &places, &question, &text)) {
        fwrite(text.at, 1, text.size, invocation->out);
        status = EXIT_DONE;
    }
    for (uint32_t i = 0; i < places.launches.count; i++)
        free_launch(&places.launches.at[i]);
    vec_free(&places.launches);
    json_document_free(&places.document);
    text_free(&text);
    return input_close(&input, status);
}
