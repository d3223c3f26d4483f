#include "frontend/commands/op_type_text.h"
#include "ir/foreign_dtypes.h"

#include <stdint.h>
#include <string.h>

/* A line, whose heading only the first line of its group has. */
static void put_line(struct text *text, const char **heading)
{
    text_printf(text, "  %-11s ", *heading);
    *heading = "";
}

static void put_name(struct text *text, const struct op_slot *slot)
{
    static const char *const marks[] = {"", "?", "*"};
    text_printf(text, "%s%s", slot->name, marks[slot->presence]);
}

static void put_dtypes(struct text *text, const struct op_type *type, const struct op_slot *slot)
{
    if (slot->dtypes == UINT64_MAX) {
        text_string(text, " any");
        return;
    }
    for (int dtype = 0; dtype < DTYPE_COUNT; dtype++)
        if (slot->dtypes >> dtype & 1)
            text_printf(text, " %s", dtype_info(dtype)->name);
    if (slot->like != NONE)
        text_printf(text, "%s like %s", slot->dtypes ? ", or" : "", type->slots[slot->like].name);
}

/* "; by dst_type: 0 f32, 1 f16" */
static void put_numbers(struct text *text, const struct op_type *type, const struct op_slot *slot)
{
    const char *between = ": ";
    enum dtype dtype;
    text_printf(text, "; by %s", type->attrs[slot->by].name);
    for (int number = 0; number < GE_DTYPES_END; number++) {
        if (!ge_dtype_find(number, &dtype) || dtype == DTYPE_UNKNOWN ||
            !(slot->dtypes >> dtype & 1))
            continue;
        text_printf(text, "%s%d %s", between, number, dtype_info(dtype)->name);
        between = ", ";
    }
}

static void put_slots(struct text *text, const struct op_type *type, bool results)
{
    const char *heading = results ? "results" : "operands";
    uint32_t first = results ? type->n_operands : 0;
    uint32_t end = results ? type->n_operands + type->n_results : type->n_operands;
    for (uint32_t i = first; i < end; i++) {
        const struct op_slot *slot = &type->slots[i];
        put_line(text, &heading);
        put_name(text, slot);
        text_char(text, ':');
        put_dtypes(text, type, slot);
        if (slot->alias != NONE)
            text_printf(text, "; the memory of %s", type->slots[slot->alias].name);
        if (slot->by != NONE)
            put_numbers(text, type, slot);
        if (slot->writes)
            text_string(text, "; written");
        if (!results && !slot->reads)
            text_string(text, "; not read");
        text_char(text, '\n');
    }
}

static void put_attrs(struct text *text, const struct op_type *type)
{
    const char *heading = "attributes";
    for (uint32_t i = 0; i < type->n_attrs; i++) {
        const struct op_attr *attr = &type->attrs[i];
        put_line(text, &heading);
        text_printf(text, "%s: %s%s%s\n", attr->name, op_attr_kind_name(attr->kind),
                    attr->fallback ? " = " : "", attr->fallback ? attr->fallback : "");
    }
}

static void put_names(struct text *text, const struct op_type *type, const uint32_t *slots,
                      uint32_t count)
{
    text_char(text, '(');
    for (uint32_t i = 0; i < count; i++)
        text_printf(text, "%s%s", i ? ", " : "", type->slots[slots[i]].name);
    text_char(text, ')');
}

static void put_graphs(struct text *text, const struct op_type *type)
{
    const char *heading = "graphs";
    for (uint32_t i = 0; i < type->n_graphs; i++) {
        const struct op_graph *graph = &type->graphs[i];
        put_line(text, &heading);
        text_printf(text, "%s%s: ", graph->attr, graph->listed ? "*" : "");
        put_names(text, type, graph->params, graph->n_params);
        text_string(text, " -> ");
        if (graph->decides)
            text_string(text, "bool");
        else
            put_names(text, type, graph->results, graph->n_results);
        text_char(text, '\n');
    }
}

static void put_rules(struct text *text, const char *heading, const struct op_rule *rules,
                      uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        put_line(text, &heading);
        text_printf(text, "%s\n", rules[i].text);
    }
}

/* Rules of what stands in operands, by operand. */
static void put_contents(struct text *text, const struct op_type *type)
{
    const char *heading = "values";
    for (uint32_t i = 0; i < type->n_contents; i++) {
        const struct op_content_rule *rule = &type->contents[i];
        put_line(text, &heading);
        text_printf(text, "%s: %s\n", type->slots[rule->operand].name, rule->rule.text);
    }
}

void op_type_text(struct text *text, const struct op_type *type)
{
    text_printf(text, "%s (%s)%s%s\n", type->name, type->family, *type->about ? ": " : "",
                type->about);
    if (type->real != type->name)
        text_printf(text, "  another name of %s\n", type->real);
    put_slots(text, type, false);
    put_slots(text, type, true);
    put_attrs(text, type);
    put_graphs(text, type);
    if (type->passive)
        text_string(text, "  passive: it executes nothing\n");
    if (type->view)
        text_string(text, "  a view: nothing has to be done\n");
    if (type->no_cores)
        text_string(text, "  its kernel runs on no AI cores\n");
    put_rules(text, "shape", type->shape, type->n_shape);
    put_contents(text, type);
    put_rules(text, "flops", &type->flops, type->flops.text != NULL);
    put_rules(text, "bytes", &type->bytes, type->bytes.text != NULL);
}

void op_types_text(struct text *text, struct op_types *types)
{
    const struct op_type *type;
    const char *family = "";
    for (uint32_t i = 0; (type = op_types_at(types, i)); i++) {
        if (strcmp(family, type->family) != 0)
            text_printf(text, "%s%s:\n", i ? "\n" : "", type->family);
        family = type->family;
        text_printf(text, "  %-24s %s\n", type->name, type->about);
    }
}
