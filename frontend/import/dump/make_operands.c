/* The inputs of nodes as the operands that their types want. */
#include "frontend/import/dump/maker.h"
#include "ir/optypes/op_types.h"

/* The data inputs of a node as operands: values in maker->values, forms in maker->forms. */
static void take_inputs(struct dump_maker *maker, const struct dump_node *node)
{
    const struct dump_graph *graph = maker_graph(maker);
    maker->values.count = maker->forms.count = 0;
    for (uint32_t i = node->inputs.first; i < node->inputs.first + node->inputs.count; i++) {
        const struct dump_input *input = &graph->inputs.at[i];
        if (input->kind == DUMP_CONTROL)
            continue;
        uint32_t value = maker_value(maker, &maker->links.inputs[i]);
        struct operand form = {OPERAND_NONE, input->label, {maker->values.count, 0}};
        if (input->listed)
            form.kind = OPERAND_LIST;
        else if (value != NONE)
            form.kind = OPERAND_VALUE;
        if (value != NONE) {
            vec_push(&maker->values, value);
            form.values.count = 1;
        }
        vec_push(&maker->forms, form);
    }
}

/* Lists that stand next to each other under one label are one. */
static void join_lists(struct dump_maker *maker)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < maker->forms.count; i++) {
        struct operand form = maker->forms.at[i];
        struct operand *last = kept ? &maker->forms.at[kept - 1] : NULL;
        if (last && form.kind == OPERAND_LIST && last->kind == OPERAND_LIST &&
            form.label == last->label)
            last->values.count += form.values.count;
        else
            maker->forms.at[kept++] = form;
    }
    maker->forms.count = kept;
}

/* What a type has as a list, a dump has as so many inputs: those that are left over when the
 * operands before and after the list have theirs; absent ones are not in it. Of several lists each
 * has one tensor, where there are not more inputs than operands. */
static void group_list(struct dump_maker *maker, const struct op_type *type)
{
    uint32_t n = maker->forms.count, lists = 0, at = 0;
    for (uint32_t i = 0; i < n; i++)
        if (maker->forms.at[i].kind == OPERAND_LIST)
            return;
    for (uint32_t i = 0; i < type->n_operands; i++)
        if (type->slots[i].presence == OP_LISTED) {
            at = i;
            lists++;
        }
    for (uint32_t i = 0; lists > 1 && i < n && n <= type->n_operands; i++)
        if (type->slots[i].presence == OP_LISTED)
            maker->forms.at[i].kind = OPERAND_LIST;
    if (lists != 1 || at > n)
        return;
    uint32_t after = type->n_operands - at - 1, count = n - at > after ? n - at - after : 0;
    uint32_t first = at < n ? maker->forms.at[at].values.first : maker->values.count;
    struct operand list = {OPERAND_LIST, NONE, {first, 0}};
    for (uint32_t i = at; i < at + count; i++)
        list.values.count += maker->forms.at[i].values.count;
    vec_reserve(&maker->forms, 1);
    memmove(maker->forms.at + at + 1, maker->forms.at + at + count,
            (n - at - count) * sizeof *maker->forms.at);
    maker->forms.at[at] = list;
    maker->forms.count = n + 1 - count;
}

/* The slot that a label names: by its name, or, of a list, by its name and a number (`x0`, `x_1`).
 * NONE where there is none. */
static uint32_t find_slot(const struct op_type *type, const struct intern_name *label)
{
    uint32_t slot = op_type_operand(type, label->text, label->size);
    size_t size = label->size;
    while (slot == NONE && size > 0 && label->text[size - 1] >= '0' && label->text[size - 1] <= '9')
        size--;
    if (slot == NONE && size < label->size)
        slot = op_type_operand(type, label->text, size);
    if (slot == NONE && size < label->size && size > 0 && label->text[size - 1] == '_')
        slot = op_type_operand(type, label->text, size - 1);
    return slot != NONE && (size == label->size || type->slots[slot].presence == OP_LISTED) ? slot
                                                                                            : NONE;
}

/* The slot of a form: that of its label, or, before all that have one, of its place. NONE where
 * there is none. */
static uint32_t form_slot(const struct dump_maker *maker, const struct op_type *type, uint32_t i,
                          bool labelled)
{
    uint32_t label = maker->forms.at[i].label;
    if (label != NONE)
        return find_slot(type, &maker->module->names.names[label]);
    return labelled || i >= type->n_operands ? NONE : i;
}

/* Operands whose labels are those of the type are put into its order, and what is not there becomes
 * `none`, up to the last one that is. Two of one name stay where they are. False where labels are
 * others, or there are none. */
static bool order_labelled(struct dump_maker *maker, const struct op_type *type)
{
    uint32_t place[MAX_OP_SLOTS] = {0}, end = 0; /* by slot: its form, from 1 on */
    bool labelled = false, twice = false;
    for (uint32_t i = 0; i < maker->forms.count; i++) {
        if (form_slot(maker, type, i, labelled) == NONE)
            return false;
        labelled |= maker->forms.at[i].label != NONE;
    }
    for (uint32_t i = 0; labelled && i < maker->forms.count; i++) {
        struct operand *form = &maker->forms.at[i];
        form->label = form_slot(maker, type, i, false); /* the slot, from now on */
        if (type->slots[form->label].presence == OP_LISTED)
            form->kind = OPERAND_LIST;
    }
    join_lists(maker);
    uint32_t given = maker->forms.count;
    for (uint32_t i = 0; labelled && i < given; i++) {
        uint32_t slot = maker->forms.at[i].label;
        twice |= place[slot] > 0;
        place[slot] = i + 1;
        end = slot < end ? end : slot + 1;
    }
    if (twice || !labelled)
        return labelled;
    for (uint32_t slot = 0; slot < end; slot++) {
        bool listed = type->slots[slot].presence == OP_LISTED;
        struct operand form = {listed ? OPERAND_LIST : OPERAND_NONE, NONE, {0, 0}};
        if (place[slot])
            form = maker->forms.at[place[slot] - 1];
        vec_push(&maker->forms, form);
    }
    memmove(maker->forms.at, maker->forms.at + given, end * sizeof *maker->forms.at);
    maker->forms.count = end;
    return true;
}

void maker_take_operands(struct dump_maker *maker, const struct dump_node *node)
{
    maker->values.count = maker->forms.count = 0;
    if (node->role == DUMP_RETURN)
        return;
    take_inputs(maker, node);
    const struct op_type *type =
        node->dialect == DIALECT_GE ? op_type_find(maker->module, node->type) : NULL;
    bool spreads = type && op_type_spreads(type);
    if (!spreads)
        join_lists(maker);
    if (type && !spreads && !order_labelled(maker, type))
        group_list(maker, type);
    for (uint32_t i = 0; i < maker->forms.count; i++) {
        struct operand *form = &maker->forms.at[i];
        if (spreads && form->kind == OPERAND_LIST)
            form->kind = form->values.count ? OPERAND_VALUE : OPERAND_NONE;
        form->label = NONE; /* kernels decide about labels */
    }
    /* Values in the order of their operands. */
    uint32_t count = maker->values.count;
    for (uint32_t i = 0; i < maker->forms.count; i++) {
        struct operand *form = &maker->forms.at[i];
        uint32_t first = form->values.first;
        form->values.first = maker->values.count - count;
        for (uint32_t k = 0; k < form->values.count; k++) {
            uint32_t value = maker->values.at[first + k];
            vec_push(&maker->values, value);
        }
    }
    uint32_t n = maker->values.count - count;
    if (n) /* else there may be no memory */
        memmove(maker->values.at, maker->values.at + count, n * sizeof *maker->values.at);
    maker->values.count = n;
}

/* How the operands are written, whose values begin at `first` in the graph's refs. */
struct range maker_add_forms(struct dump_maker *maker, uint32_t first)
{
    struct graph *graph = maker->out;
    struct range range = {graph->forms.count, 0};
    bool plain = true;
    for (uint32_t i = 0; i < maker->forms.count; i++)
        plain &= maker->forms.at[i].kind == OPERAND_VALUE && maker->forms.at[i].label == NONE;
    if (plain)
        return (struct range){0, 0};
    for (uint32_t i = 0; i < maker->forms.count; i++) {
        struct operand form = maker->forms.at[i];
        form.values.first += first;
        vec_push(&graph->forms, form);
    }
    range.count = maker->forms.count;
    return range;
}
