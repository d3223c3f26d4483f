/* The inputs of nodes as the operands that their types want. */
#include "frontend/exchange/dump/maker.h"
#include "ir/op_types.h"

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

/* The only operand of the type that is a list, or NONE. */
static uint32_t only_list(const struct op_type *type)
{
    uint32_t found = NONE;
    for (uint32_t i = 0; i < type->n_operands; i++) {
        if (type->slots[i].presence != OP_LISTED)
            continue;
        if (found != NONE)
            return NONE;
        found = i;
    }
    return found;
}

/* Operands from `first` on become one list; absent ones are not in it. */
static void make_list(struct dump_maker *maker, uint32_t first, uint32_t count)
{
    struct operand list = {OPERAND_LIST, NONE, {0, 0}};
    for (uint32_t i = first; i < first + count; i++) {
        if (i == first)
            list.values.first = maker->forms.at[i].values.first;
        list.values.count += maker->forms.at[i].values.count;
    }
    if (count == 0)
        list.values.first =
            first < maker->forms.count ? maker->forms.at[first].values.first : maker->values.count;
    vec_reserve(&maker->forms, 1);
    memmove(maker->forms.at + first + 1, maker->forms.at + first + count,
            (maker->forms.count - first - count) * sizeof *maker->forms.at);
    maker->forms.at[first] = list;
    maker->forms.count += 1 - count;
}

/* Types with several lists: those of one tensor each, where there are not more inputs than
 * operands. */
static void group_single(struct dump_maker *maker, const struct op_type *type)
{
    for (uint32_t i = 0; i < maker->forms.count && maker->forms.count <= type->n_operands; i++)
        if (type->slots[i].presence == OP_LISTED)
            maker->forms.at[i].kind = OPERAND_LIST;
}

/* What a type has as a list, a dump has as so many inputs: those that are left over when the
 * operands before and behind the list have theirs. */
static void group_list(struct dump_maker *maker, const struct op_type *type)
{
    uint32_t at = only_list(type), n = maker->forms.count;
    for (uint32_t i = 0; i < n; i++)
        if (maker->forms.at[i].kind == OPERAND_LIST)
            return;
    if (at == NONE)
        group_single(maker, type);
    if (at == NONE || at > n)
        return;
    uint32_t behind = type->n_operands - at - 1;
    make_list(maker, at, n - at > behind ? n - at - behind : 0);
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

/* Whether the labels are those of the type, and there are any. */
static bool labels_fit(const struct dump_maker *maker, const struct op_type *type)
{
    bool labelled = false;
    for (uint32_t i = 0; i < maker->forms.count; i++) {
        if (form_slot(maker, type, i, labelled) == NONE)
            return false;
        labelled |= maker->forms.at[i].label != NONE;
    }
    return labelled;
}

/* Labels that fit become those of the type, also of operands that have none. */
static void settle_labels(struct dump_maker *maker, const struct op_type *type)
{
    for (uint32_t i = 0; i < maker->forms.count; i++) {
        struct operand *form = &maker->forms.at[i];
        const struct op_slot *slot = &type->slots[form_slot(maker, type, i, false)];
        form->label = module_name(maker->module, slot->name);
        if (slot->presence == OP_LISTED)
            form->kind = OPERAND_LIST;
    }
}

/* The number of the form with a label among the first `count`; NONE. */
static uint32_t find_label(const struct dump_maker *maker, uint32_t count, const char *label)
{
    for (uint32_t i = 0; i < count; i++)
        if (name_is(maker->module, maker->forms.at[i].label, label))
            return i;
    return NONE;
}

/* Operands that the dump names are put into the order of the type, and what is not there becomes
 * `none`, but behind the last one that is. Two of one name stay where they are. */
static void order_labelled(struct dump_maker *maker, const struct op_type *type)
{
    uint32_t given = maker->forms.count, placed = 0, end = given;
    for (uint32_t slot = 0; slot < type->n_operands; slot++) {
        uint32_t at = find_label(maker, given, type->slots[slot].name);
        bool listed = type->slots[slot].presence == OP_LISTED;
        struct operand form = {listed ? OPERAND_LIST : OPERAND_NONE, NONE, {0, 0}};
        if (at != NONE) {
            form = maker->forms.at[at];
            end = given + slot + 1;
            placed++;
        }
        vec_push(&maker->forms, form);
    }
    maker->forms.count = given;
    if (placed < given)
        return;
    memmove(maker->forms.at, maker->forms.at + given, (end - given) * sizeof *maker->forms.at);
    maker->forms.count = end - given;
}

/* Values stand in the order of their operands. */
static void gather_values(struct dump_maker *maker)
{
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

static void spread_lists(struct dump_maker *maker)
{
    for (uint32_t i = 0; i < maker->forms.count; i++)
        if (maker->forms.at[i].kind == OPERAND_LIST)
            maker->forms.at[i].kind =
                maker->forms.at[i].values.count ? OPERAND_VALUE : OPERAND_NONE;
}

static void shape_operands(struct dump_maker *maker, const struct op_type *type)
{
    if (type && op_type_spreads(type)) {
        spread_lists(maker);
        gather_values(maker);
        return;
    }
    join_lists(maker);
    if (type && labels_fit(maker, type)) {
        settle_labels(maker, type);
        join_lists(maker);
        order_labelled(maker, type);
    } else if (type) {
        group_list(maker, type);
    }
    gather_values(maker);
}

/* The dump's labels: kernels decide about those. */
static void forget_labels(struct dump_maker *maker)
{
    for (uint32_t i = 0; i < maker->forms.count; i++)
        maker->forms.at[i].label = NONE;
}

void maker_take_operands(struct dump_maker *maker, const struct dump_node *node)
{
    maker->values.count = maker->forms.count = 0;
    if (node->role == DUMP_RETURN)
        return;
    take_inputs(maker, node);
    shape_operands(maker,
                   node->dialect == DIALECT_GE ? op_type_find(maker->module, node->type) : NULL);
    forget_labels(maker);
}

static bool is_plain(const struct dump_maker *maker)
{
    for (uint32_t i = 0; i < maker->forms.count; i++)
        if (maker->forms.at[i].kind != OPERAND_VALUE || maker->forms.at[i].label != NONE)
            return false;
    return true;
}

/* How the operands are written, whose values begin at `first` in the graph's refs. */
struct range maker_add_forms(struct dump_maker *maker, uint32_t first)
{
    struct graph *graph = maker->out;
    struct range range = {graph->forms.count, 0};
    if (is_plain(maker))
        return (struct range){0, 0};
    for (uint32_t i = 0; i < maker->forms.count; i++) {
        struct operand form = maker->forms.at[i];
        form.values.first += first;
        vec_push(&graph->forms, form);
    }
    range.count = maker->forms.count;
    return range;
}
