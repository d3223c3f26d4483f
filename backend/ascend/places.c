#include "backend/ascend/places.h"
#include "backend/ascend/entry_ops.h"
#include "ir/syntax/locate.h"

const struct source_line *places_line(const struct source_lines *lines, uint32_t line)
{
    uint32_t low;
    bisect(low, i, lines->count, lines->at[i].line <= line);
    return low ? &lines->at[low - 1] : NULL;
}

struct place *places_of(const struct program *program)
{
    uint32_t count = program->instrs.count, last = NONE, next = NONE;
    struct place *places = mem_calloc((size_t)count + 1, sizeof *places);
    for (uint32_t i = 0; i < count; i++) {
        bool is_call = program->instrs.at[i].op == INSTR_call;
        places[i] = (struct place){is_call ? i : NONE, last, NONE};
        last = is_call ? i : last;
    }
    for (uint32_t i = count; i-- > 0;) {
        places[i].before = next;
        next = places[i].call != NONE ? i : next;
    }
    return places;
}

/* The op of a call, or NONE. */
static struct span call_span(const struct module *module, const struct entry *entry,
                             const struct instr *call)
{
    struct entry_ops ops;
    entry_ops_init(&ops, module, entry);
    const struct op *op = entry_op(&ops, call->number[0]);
    struct span span = op ? locate_op(module, op, OP_TYPE_NAME, 0) : no_span;
    entry_ops_free(&ops);
    return span;
}

struct span places_span(const struct module *module, const struct source_lines *lines,
                        uint32_t line)
{
    const struct source_line *at = places_line(lines, line);
    if (!at)
        return no_span;
    const struct entry *entry = &module->entries.at[at->entry];
    const struct program *program = &entry->programs[at->core];
    const struct instr *instr = &program->instrs.at[at->instr];
    struct place *places = places_of(program), place = places[at->instr];
    uint32_t call = place.call != NONE     ? place.call
                    : place.before != NONE ? place.before
                                           : place.behind;
    mem_free(places);
    if (instr->loc != NONE)
        return locate_instr(module, instr);
    return call == NONE ? no_span : call_span(module, entry, &program->instrs.at[call]);
}

void places_name(struct text *text, const struct module *module, uint32_t loc)
{
    struct source *source = module->source;
    if (!source || loc == NONE)
        return;
    source = source_at(source, &loc);
    const char *slash = strrchr(source->path, '/');
    for (const char *c = slash ? slash + 1 : source->path; *c; c++)
        text_char(text, *c > ' ' && *c != '\\' ? *c : '?');
    text_printf(text, ":%u", source_position(source, loc).line);
}
