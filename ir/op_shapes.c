#include "ir/op_shapes.h"
#include "ir/op_eval.h"

#include <string.h>

/* ------------------------------------------------------------------------- faults ---- */

static const char *noun(const struct evaluator *e, uint32_t tensor)
{
    return e->call->tensors[tensor].slot < e->call->type->n_operands ? "operand" : "result";
}

/* A variable of a pattern that stands for several dimensions of another tensor; NULL. */
static const struct rule *bound_rest(const struct evaluator *e, uint32_t tensor,
                                     const struct rule *pattern)
{
    for (uint32_t i = 0; pattern->kind == RULE_LIST && i < pattern->n_args; i++) {
        const struct rule *item = pattern->args[i];
        if (item->kind == RULE_SPLICE && item->args[0]->kind == RULE_VARIABLE &&
            e->bindings[item->args[0]->number].value.kind == VALUE_LIST &&
            e->bindings[item->args[0]->number].tensor != tensor)
            return item->args[0];
    }
    return NULL;
}

static void wrong_form(struct evaluator *e, uint32_t tensor, const struct rule *pattern)
{
    struct rule_value shape = rule_shape(e, tensor);
    const struct rule *rest = bound_rest(e, tensor, pattern);
    const struct binding *bound = rest ? &e->bindings[rest->number] : NULL;
    rule_fail(e, tensor, bound ? bound->tensor : NONE, "%s '%s' %s of %s does not fit '%s'%s%s%s%s",
              noun(e, tensor), rule_slot(e, tensor)->name, rule_value_text(e, &shape).text,
              e->call->type->name, rule_text(e), bound ? ", where " : "", bound ? rest->text : "",
              bound ? " = " : "", bound ? rule_value_text(e, &bound->value).text : "");
}

static void wrong_shape(struct evaluator *e, uint32_t tensor, const struct rule_value *expected)
{
    struct rule_value shape = rule_shape(e, tensor);
    rule_fail(e, tensor, NONE, "%s '%s' of %s is %s, but by '%s' it is %s", noun(e, tensor),
              rule_slot(e, tensor)->name, e->call->type->name, rule_value_text(e, &shape).text,
              rule_text(e), rule_value_text(e, expected).text);
}

static void wrong_variable(struct evaluator *e, uint32_t tensor, const struct rule *variable,
                           const struct rule_value *found)
{
    const struct binding *bound = &e->bindings[variable->number];
    struct rule_value shape = rule_shape(e, tensor), other = rule_shape(e, bound->tensor);
    rule_fail(e, tensor, bound->tensor, "%s '%s' %s of %s has %s = %s, but '%s' %s has %s = %s",
              noun(e, tensor), rule_slot(e, tensor)->name, rule_value_text(e, &shape).text,
              e->call->type->name, variable->text, rule_value_text(e, found).text,
              rule_slot(e, bound->tensor)->name, rule_value_text(e, &other).text, variable->text,
              rule_value_text(e, &bound->value).text);
}

/* ------------------------------------------------------------------------ matching ---- */

/* A variable stands for this; it may do so already. */
static void bind(struct evaluator *e, uint32_t tensor, const struct rule *variable,
                 const struct rule_value *found)
{
    struct binding *binding = &e->bindings[variable->number];
    if (binding->value.kind == VALUE_UNKNOWN) {
        *binding = (struct binding){*found, tensor};
        return;
    }
    bool agree =
        binding->value.kind == found->kind &&
        (found->kind == VALUE_LIST ? rule_lists_agree(&binding->value, found)
                                   : rule_dims_agree(binding->value.number, found->number));
    if (!agree)
        wrong_variable(e, tensor, variable, found);
    else
        rule_refine(&binding->value, found);
}

/* How many dimensions an item of a pattern takes; NONE: as many as are left. */
static uint32_t item_width(struct evaluator *e, const struct rule *item)
{
    if (item->kind != RULE_SPLICE)
        return 1;
    struct rule_value value = rule_eval(e, item->args[0]);
    return value.kind == VALUE_LIST ? value.count : NONE;
}

/* The widths of a pattern's items for a tensor of `rank` dimensions. False where that is wrong, or
 * not known. */
static bool pattern_widths(struct evaluator *e, uint32_t tensor, const struct rule *pattern,
                           uint32_t *widths)
{
    uint32_t rest = NONE, rank = e->call->tensors[tensor].rank;
    uint64_t fixed = 0;
    for (uint32_t i = 0; i < pattern->n_args; i++) {
        widths[i] = item_width(e, pattern->args[i]);
        if (widths[i] == NONE && rest != NONE)
            return false;
        if (widths[i] == NONE)
            rest = i;
        else
            fixed += widths[i];
    }
    if (rest == NONE ? fixed != rank : fixed > rank) {
        wrong_form(e, tensor, pattern);
        return false;
    }
    if (rest != NONE)
        widths[rest] = rank - (uint32_t)fixed;
    return true;
}

static void match_item(struct evaluator *e, uint32_t tensor, const struct rule *pattern,
                       const struct rule *item, const struct rule_value *found)
{
    bool splice = item->kind == RULE_SPLICE;
    const struct rule *inner = splice ? item->args[0] : item;
    if (inner->kind == RULE_VARIABLE) {
        bind(e, tensor, inner, found);
        return;
    }
    struct rule_value expected = rule_eval(e, inner);
    if (splice ? expected.kind == VALUE_LIST && !rule_lists_agree(&expected, found)
               : expected.kind == VALUE_NUMBER && !rule_dims_agree(expected.number, found->number))
        wrong_form(e, tensor, pattern);
}

static void match_pattern(struct evaluator *e, uint32_t tensor, const struct rule *pattern)
{
    struct rule_value shape = rule_shape(e, tensor);
    uint32_t *widths = arena_alloc(&e->arena, (pattern->n_args + 1) * sizeof *widths), at = 0;
    if (shape.kind != VALUE_LIST || !pattern_widths(e, tensor, pattern, widths))
        return;
    for (uint32_t i = 0; i < pattern->n_args && !e->failed; at += widths[i++]) {
        struct rule_value part = rule_list(e, widths[i]);
        if (widths[i])
            memcpy(part.dims, shape.dims + at, widths[i] * sizeof *part.dims);
        if (pattern->args[i]->kind != RULE_SPLICE)
            part = rule_dim_value(shape.dims[at]);
        match_item(e, tensor, pattern, pattern->args[i], &part);
    }
}

/* ---------------------------------------------------------------------------- rules ---- */

const struct rule *rule_choose(struct evaluator *e, const struct rule *rule)
{
    while (rule->kind == RULE_CHOICE) {
        struct rule_value which = rule_eval(e, rule->args[0]);
        const int64_t *number = rule_as_number(&which);
        if (!number)
            return NULL;
        rule = rule->args[*number ? 1 : 2];
    }
    return rule;
}

/* Whether a list is a pattern, which may bind variables, and not just a shape. */
static bool has_variables(const struct rule *list)
{
    for (uint32_t i = 0; i < list->n_args; i++) {
        const struct rule *item = list->args[i];
        if ((item->kind == RULE_SPLICE ? item->args[0] : item)->kind == RULE_VARIABLE)
            return true;
    }
    return false;
}

struct rule_value rule_shape_said(struct evaluator *e, uint32_t tensor, const struct rule *value)
{
    struct rule_value shape = rule_eval(e, value);
    for (uint32_t i = 0; shape.kind == VALUE_LIST && i < shape.count; i++)
        if (shape.dims[i].known && shape.dims[i].number < 0)
            rule_fail(e, tensor, NONE, "'%s' of %s would be %s by '%s'",
                      e->call->type->slots[e->rule->slot].name, e->call->type->name,
                      rule_value_text(e, &shape).text, rule_text(e));
    return e->failed ? rule_unknown : shape;
}

static void match_patterns(struct evaluator *e, const struct rule *pattern)
{
    for (uint32_t i = 0; i < e->call->n_tensors && !e->failed; i++)
        if (e->call->tensors[i].slot == e->rule->slot)
            match_pattern(e, i, pattern);
}

/* A shape that nothing else tells is what the rule says; a second rule may say more. */
static void take_shape(struct evaluator *e, uint32_t tensor, const struct rule_value *expected)
{
    struct rule_value *shape = &e->inferred[tensor];
    if (shape->kind != VALUE_LIST && expected->kind == VALUE_LIST) {
        *shape = rule_list(e, expected->count);
        if (shape->kind == VALUE_LIST && expected->count)
            memcpy(shape->dims, expected->dims, expected->count * sizeof *expected->dims);
    } else if (expected->kind == VALUE_LIST) {
        rule_refine(shape, expected);
    }
}

static void check_slot(struct evaluator *e, const struct rule *value)
{
    struct rule_dim dims[MAX_RANK];
    struct rule_value expected = rule_unknown;
    bool operand = e->rule->slot < e->call->type->n_operands, first = true;
    if (operand && value->kind == RULE_LIST && has_variables(value)) {
        match_patterns(e, value);
        return;
    }
    e->nth = 0;
    /* Whose shape it would be is not told, but it may be impossible. */
    if (!operand && !e->rule->each && rule_tensor(e, e->rule->slot) == NONE)
        rule_shape_said(e, NONE, value);
    for (uint32_t i = 0; i < e->call->n_tensors && !e->failed; i++) {
        if (e->call->tensors[i].slot != e->rule->slot)
            continue;
        if (first || e->rule->each)
            expected = rule_shape_said(e, i, value);
        struct rule_value found = rule_shape_in(e, i, dims);
        if (expected.kind == VALUE_LIST && found.kind == VALUE_LIST &&
            !rule_lists_agree(&expected, &found))
            wrong_shape(e, i, &expected);
        if (e->inferred && !operand && !e->failed)
            take_shape(e, i, &expected);
        first = false;
        e->nth++;
    }
}

/* A tensor that an expression is about; NONE. */
static uint32_t subject(const struct evaluator *e, const struct rule *rule)
{
    if (rule->kind == RULE_SLOT)
        return rule_tensor(e, (uint32_t)rule->number);
    if (rule->kind == RULE_VARIABLE)
        return e->bindings[rule->number].tensor;
    uint32_t found = NONE;
    for (uint32_t i = 0; i < rule->n_args && found == NONE; i++)
        found = subject(e, rule->args[i]);
    return found;
}

/* What the first comparison of a condition is about: an attribute or a variable; NULL. */
static const struct rule *first_compared(const struct rule *value)
{
    while (value->kind == RULE_NOT || (value->kind == RULE_BINARY && value->number <= RULE_GT))
        value = value->args[0];
    return value->kind == RULE_ATTR || value->kind == RULE_VARIABLE ? value : NULL;
}

/* Of several conditions together, by `&&` or `||`. */
static void wrong_conditions(struct evaluator *e, const struct rule *value)
{
    const struct rule *about = first_compared(value);
    struct rule_value found = about ? rule_eval(e, about) : rule_unknown;
    const char *name = !about                     ? ""
                       : about->kind == RULE_ATTR ? e->call->type->attrs[about->number].name
                                                  : about->text;
    rule_fail(e, subject(e, value), NONE, "%s has '%s', which does not hold%s%s%s%s",
              e->call->type->name, rule_text(e), about ? " for " : "", name, about ? " = " : "",
              about ? rule_value_text(e, &found).text : "");
}

/* "'x[-1]' is 7", and the same of another expression that is no number. */
static const char *values_text(struct evaluator *e, const struct rule *of, const struct rule *other)
{
    struct rule_value value = rule_eval(e, of), second = rule_eval(e, other);
    const char *text = e->rule->text;
    const char *first = arena_printf(&e->arena, "'%.*s' is %s", (int)(of->end - of->begin),
                                     text + of->begin, rule_value_text(e, &value).text);
    return other->kind == RULE_NUMBER
               ? first
               : arena_printf(&e->arena, "%s and '%.*s' is %s", first,
                              (int)(other->end - other->begin), text + other->begin,
                              rule_value_text(e, &second).text);
}

/* A comparison: what both sides come to, but of a remainder or quotient what it is of. */
static void wrong_comparison(struct evaluator *e, const struct rule *value)
{
    struct rule_value a = rule_eval(e, value->args[0]), b = rule_eval(e, value->args[1]);
    const struct rule *left = value->args[0];
    if (left->kind == RULE_BINARY && (left->number == RULE_MOD || left->number == RULE_DIV))
        rule_fail(e, subject(e, value), NONE, "%s has '%s', but %s", e->call->type->name,
                  rule_text(e), values_text(e, left->args[0], left->args[1]));
    else
        rule_fail(e, subject(e, value), NONE, "%s has '%s', which does not hold for %s and %s",
                  e->call->type->name, rule_text(e), rule_value_text(e, &a).text,
                  rule_value_text(e, &b).text);
}

static void check_condition(struct evaluator *e, const struct rule *value)
{
    struct rule_value holds = rule_eval(e, value);
    const int64_t *number = rule_as_number(&holds);
    if (e->failed || !number || *number)
        return;
    if (value->kind != RULE_BINARY || value->number <= RULE_AND)
        wrong_conditions(e, value);
    else
        wrong_comparison(e, value);
}

static void run_rule(struct evaluator *e, const struct op_rule *rule)
{
    e->rule = rule;
    const struct rule *value = rule_choose(e, rule->value);
    if (!value || e->failed)
        return;
    if (rule->slot == NONE)
        check_condition(e, value);
    else
        check_slot(e, value);
    if (e->failed && e->fault->tensor == NONE)
        e->fault->tensor = subject(e, value);
}

void evaluator_init(struct evaluator *e, const struct op_call *call, struct op_fault *fault)
{
    *e = (struct evaluator){.call = call, .fault = fault};
    for (uint32_t i = 0; i < MAX_RULE_VARIABLES; i++)
        e->bindings[i].tensor = NONE;
}

void rules_run(struct evaluator *e)
{
    for (uint32_t i = 0; i < e->call->type->n_shape && !e->failed; i++)
        run_rule(e, &e->call->type->shape[i]);
}

void evaluator_free(struct evaluator *e)
{
    vec_free(&e->sums);
    arena_free(&e->arena);
}

/* A result of an operand's name is that operand, updated in place; NONE: it is none. */
static uint32_t updated_operand(const struct evaluator *e, uint32_t tensor)
{
    const struct op_slot *slot = rule_slot(e, tensor);
    uint32_t operand = slot->alias == NONE ? NONE : rule_tensor(e, slot->alias);
    return operand != NONE && strcmp(slot->name, rule_slot(e, operand)->name) == 0 ? operand : NONE;
}

static void take_updated(struct evaluator *e)
{
    for (uint32_t i = 0; i < e->call->n_tensors && !e->failed; i++) {
        uint32_t operand = updated_operand(e, i);
        if (operand == NONE || e->call->tensors[i].rank != RANK_UNKNOWN)
            continue;
        struct rule_value shape = rule_shape(e, operand);
        take_shape(e, i, &shape);
    }
}

static void check_updated(struct evaluator *e, uint32_t tensor)
{
    const struct op_slot *slot = rule_slot(e, tensor);
    uint32_t operand = updated_operand(e, tensor);
    if (operand == NONE)
        return;
    struct rule_value found = rule_shape(e, tensor), expected = rule_shape(e, operand);
    if (found.kind == VALUE_LIST && expected.kind == VALUE_LIST &&
        !rule_lists_agree(&found, &expected))
        rule_fail(e, tensor, operand,
                  "result '%s' of %s is %s, but the operand that it updates is %s", slot->name,
                  e->call->type->name, rule_value_text(e, &found).text,
                  rule_value_text(e, &expected).text);
}

bool op_shapes_check(const struct op_call *call, struct op_fault *fault)
{
    struct evaluator e;
    evaluator_init(&e, call, fault);
    rules_run(&e);
    for (uint32_t i = 0; i < call->n_tensors && !e.failed; i++)
        check_updated(&e, i);
    evaluator_free(&e);
    return !e.failed;
}

/* What types have for a shape. */
static void shape_of_type(const struct evaluator *e, struct module *module, struct arena *arena,
                          const struct rule_value *value, struct op_shape *shape)
{
    bool fits = value->kind != VALUE_LIST || value->count <= MAX_RANK;
    shape->excess = fits ? 0 : value->count;
    shape->rank = value->kind == VALUE_LIST && fits ? value->count : RANK_UNKNOWN;
    if (shape->rank == RANK_UNKNOWN)
        return;
    int64_t *dims = arena_alloc(arena, (shape->rank + 1) * sizeof *dims);
    for (uint32_t i = 0; i < shape->rank; i++)
        dims[i] = rule_dim_of_type(e, module, value->dims[i]);
    shape->dims = dims;
}

static uint64_t ruled_slots(const struct op_type *type)
{
    uint64_t slots = 0;
    for (uint32_t i = 0; i < type->n_shape; i++)
        if (type->shape[i].slot != NONE)
            slots |= UINT64_C(1) << type->shape[i].slot;
    return slots;
}

/* Whether it is known what stands in the operand that a rule is about. */
static bool contents_are_known(struct evaluator *e, const struct op_content_rule *rule)
{
    struct op_contents found;
    uint32_t tensor = rule_tensor(e, rule->operand);
    return tensor != NONE && e->call->contents(e->call, tensor, &e->arena, &found);
}

/* Shapes of results that what stands in operands says; whether there may be any. */
static bool run_content_rules(struct evaluator *e)
{
    const struct op_type *type = e->call->type;
    bool any = false;
    for (uint32_t i = 0; e->call->contents && i < type->n_contents && !e->failed; i++) {
        const struct op_content_rule *rule = &type->contents[i];
        if (rule->rule.slot == NONE || rule->rule.slot < type->n_operands ||
            !contents_are_known(e, rule))
            continue;
        run_rule(e, &rule->rule);
        any = true;
    }
    return any;
}

/* Rules of shapes say more once more shapes are known. What they then have against these does not
 * count here: the shapes are told all the same, and so is what is wrong, of whoever has them. */
static void infer_shapes(struct evaluator *e)
{
    rules_run(e);
    if (!e->failed && run_content_rules(e) && !e->failed) {
        rules_run(e);
        e->failed = false;
    }
    take_updated(e);
}

bool op_shapes_infer(const struct op_call *call, struct module *module, struct arena *arena,
                     struct op_shape *shapes, struct op_fault *fault)
{
    struct evaluator e;
    uint64_t ruled = ruled_slots(call->type);
    evaluator_init(&e, call, fault);
    e.inferred = arena_alloc(&e.arena, (call->n_tensors + 1) * sizeof *e.inferred);
    for (uint32_t i = 0; i < call->n_tensors; i++)
        e.inferred[i] = rule_unknown;
    infer_shapes(&e);
    for (uint32_t i = 0; i < call->n_tensors; i++) {
        shapes[i] = (struct op_shape){.ruled = ruled >> call->tensors[i].slot & 1};
        shapes[i].ruled |= updated_operand(&e, i) != NONE;
        shape_of_type(&e, module, arena, &e.inferred[i], &shapes[i]);
    }
    evaluator_free(&e);
    return !e.failed;
}

bool op_shapes_number(const struct op_call *call, const struct op_rule *rule, int64_t *number,
                      struct op_fault *fault)
{
    struct evaluator e;
    evaluator_init(&e, call, fault);
    if (rule->value)
        rules_run(&e);
    e.rule = rule;
    struct rule_value value = rule->value && !e.failed ? rule_eval(&e, rule->value) : rule_unknown;
    const int64_t *found = e.failed ? NULL : rule_as_number(&value);
    if (found)
        *number = *found;
    evaluator_free(&e);
    return found != NULL;
}
