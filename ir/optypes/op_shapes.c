#include "ir/optypes/op_shapes.h"
#include "ir/optypes/op_eval.h"

#include <stdio.h>
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

/* ------------------------------------------------------------------------- allowed ---- */

/* What a rule that is of each element says: nothing, a range, a list, or that it is wrong. */
enum allowed_kind { ALLOWED_ALL, ALLOWED_RANGE, ALLOWED_LIST, ALLOWED_NONE };

struct allowed {
    enum allowed_kind kind;
    int64_t low, high;
    struct rule_value list;
};

static struct allowed range_of(struct evaluator *e, const struct rule *rule)
{
    struct rule_value low = rule_eval(e, rule->args[0]), high = rule_eval(e, rule->args[1]);
    const int64_t *from = rule_as_number(&low), *to = rule_as_number(&high);
    return (struct allowed){
        .kind = ALLOWED_RANGE, .low = from ? *from : INT64_MIN, .high = to ? *to : INT64_MAX};
}

static struct allowed allowed_by(struct evaluator *e, const struct op_rule *rule)
{
    e->rule = rule;
    const struct rule *value = rule_choose(e, rule->value);
    if (!value || e->failed)
        return (struct allowed){.kind = ALLOWED_ALL};
    if (value->kind == RULE_RANGE)
        return range_of(e, value);
    struct rule_value found = rule_eval(e, value);
    const int64_t *holds = rule_as_number(&found);
    if (found.kind == VALUE_LIST)
        return (struct allowed){.kind = ALLOWED_LIST, .list = found};
    return (struct allowed){.kind = holds && !*holds ? ALLOWED_NONE : ALLOWED_ALL};
}

static bool allows(const struct allowed *allowed, int64_t number)
{
    bool found = allowed->kind == ALLOWED_ALL;
    if (allowed->kind == ALLOWED_RANGE)
        return number >= allowed->low && number <= allowed->high;
    for (uint32_t i = 0; allowed->kind == ALLOWED_LIST && i < allowed->list.count && !found; i++)
        found = !allowed->list.dims[i].known || allowed->list.dims[i].number == number;
    return found;
}

/* -------------------------------------------------------------------------- faults ---- */

/* An operand that is looked at. */
struct looking {
    struct evaluator e;
    struct op_fault shapes; /* what the rules of shapes say */
    struct op_range_fault *fault;
    uint32_t tensor;
    struct op_contents contents;
};

/* The first slot that a rule speaks of besides the operand itself. */
static uint32_t other_slot(const struct rule *rule, uint32_t operand)
{
    if (rule->kind == RULE_SLOT)
        return rule->number == operand ? NONE : (uint32_t)rule->number;
    uint32_t found = NONE;
    for (uint32_t i = 0; i < rule->n_args && found == NONE; i++)
        found = other_slot(rule->args[i], operand);
    return found;
}

static void begin_fault(struct looking *looking, uint32_t other)
{
    looking->e.failed = true;
    *looking->fault = (struct op_range_fault){
        .tensor = looking->tensor, .other = other, .low = INT64_MAX, .high = INT64_MIN};
}

__attribute__((format(printf, 2, 3))) static void add_text(struct op_range_fault *fault,
                                                           const char *format, ...)
{
    size_t used = strlen(fault->text);
    va_list args;
    va_start(args, format);
    vsnprintf(fault->text + used, sizeof fault->text - used, format, args);
    va_end(args);
}

static const char *operand_name(const struct looking *looking)
{
    return rule_slot(&looking->e, looking->tensor)->name;
}

/* "[1, 7]" of an element; nothing where there is only one. */
static void add_place(struct looking *looking, uint64_t place)
{
    const struct op_tensor *tensor = &looking->e.call->tensors[looking->tensor];
    int64_t at[MAX_RANK];
    if (looking->contents.count == 1 || tensor->rank > MAX_RANK)
        return;
    for (uint32_t i = tensor->rank; i-- > 0; place /= (uint64_t)tensor->dims[i])
        at[i] = (int64_t)(place % (uint64_t)tensor->dims[i]);
    add_text(looking->fault, "element [");
    for (uint32_t i = 0; i < tensor->rank; i++)
        add_text(looking->fault, "%s%lld", i ? ", " : "", (long long)at[i]);
    add_text(looking->fault, "] of ");
}

/* Rules that are longer say less than the numbers that they come to. */
static void add_rule(struct looking *looking)
{
    enum { MOST = 64 };
    if (strlen(looking->e.rule->text) <= MOST)
        add_text(looking->fault, " by '%s'", looking->e.rule->text);
}

/* "4, 7 or -1" */
static void add_list(struct looking *looking, const struct rule_value *list)
{
    enum { MOST = 8 };
    for (uint32_t i = 0; i < list->count && i < MOST; i++)
        add_text(looking->fault, "%s%lld",
                 i == 0                                  ? ""
                 : i + 1 == list->count && i + 1 <= MOST ? " or "
                                                         : ", ",
                 (long long)list->dims[i].number);
    if (list->count > MOST)
        add_text(looking->fault, " ...");
}

static void add_allowed(struct looking *looking, const struct allowed *allowed)
{
    if (allowed->kind == ALLOWED_NONE) {
        add_text(looking->fault, ", for which '%s' does not hold", rule_text(&looking->e));
        return;
    }
    bool nothing =
        allowed->kind == ALLOWED_RANGE ? allowed->low > allowed->high : allowed->list.count == 0;
    add_text(looking->fault, nothing ? ", but nothing is right there" : ", but must be ");
    if (!nothing && allowed->kind == ALLOWED_LIST)
        add_list(looking, &allowed->list);
    else if (!nothing && allowed->low == allowed->high)
        add_text(looking->fault, "%lld", (long long)allowed->low);
    else if (!nothing && allowed->low == INT64_MIN)
        add_text(looking->fault, "at most %lld", (long long)allowed->high);
    else if (!nothing && allowed->high == INT64_MAX)
        add_text(looking->fault, "at least %lld", (long long)allowed->low);
    else if (!nothing)
        add_text(looking->fault, "%lld to %lld", (long long)allowed->low, (long long)allowed->high);
    add_rule(looking);
}

static void wrong_element(struct looking *looking, uint64_t place, const struct allowed *allowed,
                          bool by_element)
{
    uint32_t other =
        other_slot(looking->e.rule->value, looking->e.call->tensors[looking->tensor].slot);
    begin_fault(looking, other == NONE ? NONE : rule_tensor(&looking->e, other));
    add_place(looking, place);
    add_text(looking->fault, "operand '%s' of %s is %lld", operand_name(looking),
             looking->e.call->type->name, (long long)looking->contents.at[place]);
    add_allowed(looking, allowed);
    if (!by_element && allowed->kind == ALLOWED_RANGE) {
        looking->fault->low = allowed->low;
        looking->fault->high = allowed->high;
    }
}

/* "operand 'perm' is [0, 0]: " and what is wrong with it. */
static void wrong_whole(struct looking *looking)
{
    struct rule_value all = rule_contents(&looking->e, looking->tensor);
    uint32_t other = looking->shapes.tensor;
    begin_fault(looking, other == looking->tensor ? NONE : other);
    add_text(looking->fault, "operand '%s'", operand_name(looking));
    if (looking->contents.count == 1)
        add_text(looking->fault, " is %lld", (long long)looking->contents.at[0]);
    else if (all.kind == VALUE_LIST)
        add_text(looking->fault, " is %s", rule_value_text(&looking->e, &all).text);
    add_text(looking->fault, ": %s", looking->shapes.text);
}

/* ------------------------------------------------------------------------ checking ---- */

/* The elements on their own; what is evaluated for one is released after it. */
static void look_by_element(struct looking *looking, const struct op_rule *rule)
{
    struct evaluator *e = &looking->e;
    struct arena kept = e->arena, scratch = {NULL, 0};
    memset(e->element, 0, sizeof e->element);
    e->arena = scratch;
    for (uint64_t i = 0; i < looking->contents.count && !e->failed; i++) {
        int64_t number = looking->contents.at[i];
        arena_clear(&e->arena);
        evaluator_forget(e);
        e->element[ELEMENT_PLACE] = (int64_t)i;
        e->element[ELEMENT_VALUE] = number;
        struct allowed allowed = allowed_by(e, rule);
        if (!e->failed && !allows(&allowed, number))
            wrong_element(looking, i, &allowed, true);
        else if (e->failed)
            wrong_whole(looking);
        e->element[ELEMENT_BEFORE] = number;
        if (__builtin_add_overflow(e->element[ELEMENT_SUM], number, &e->element[ELEMENT_SUM]))
            e->element[ELEMENT_SUM] = number < 0 ? INT64_MIN : INT64_MAX;
    }
    arena_free(&e->arena);
    evaluator_forget(e);
    e->arena = kept;
}

static void compare_shape(struct evaluator *e, uint32_t tensor, const struct rule_value *expected)
{
    struct rule_value found = rule_shape(e, tensor);
    if (expected->kind == VALUE_LIST && found.kind == VALUE_LIST &&
        !rule_lists_agree(expected, &found))
        rule_fail(e, tensor, NONE, "by it '%s' of %s is %s, not %s", rule_slot(e, tensor)->name,
                  e->call->type->name, rule_value_text(e, expected).text,
                  rule_value_text(e, &found).text);
}

/* A rule of the shape of another tensor. */
static void look_at_shape(struct looking *looking, const struct op_rule *rule)
{
    struct evaluator *e = &looking->e;
    e->rule = rule;
    e->nth = 0;
    const struct rule *value = rule_choose(e, rule->value);
    struct rule_value expected = value ? rule_shape_said(e, NONE, value) : rule_unknown;
    for (uint32_t i = 0; value && i < e->call->n_tensors && !e->failed; i++) {
        if (e->call->tensors[i].slot != rule->slot)
            continue;
        if (rule->each && e->nth > 0)
            expected = rule_shape_said(e, i, value);
        compare_shape(e, i, &expected);
        e->nth++;
    }
    if (e->failed)
        wrong_whole(looking);
}

/* A rule that says the same of all elements, or is of all together. */
static void look_at_all(struct looking *looking, const struct op_rule *rule)
{
    struct evaluator *e = &looking->e;
    struct allowed allowed = allowed_by(e, rule);
    if (e->failed)
        wrong_whole(looking);
    for (uint64_t i = 0; i < looking->contents.count && !e->failed; i++)
        if (!allows(&allowed, looking->contents.at[i]))
            wrong_element(looking, i, &allowed, false);
}

static void looking_init(struct looking *looking, const struct op_call *call,
                         struct op_range_fault *fault)
{
    *looking = (struct looking){.fault = fault};
    evaluator_init(&looking->e, call, &looking->shapes);
    rules_run(&looking->e);
}

/* Whether it is known what stands in an operand, the first tensor of a slot. */
static bool open_operand(struct looking *looking, uint32_t operand)
{
    const struct op_call *call = looking->e.call;
    looking->tensor = rule_tensor(&looking->e, operand);
    return looking->tensor != NONE && call->contents &&
           call->contents(call, looking->tensor, &looking->e.arena, &looking->contents);
}

bool op_ranges_check(const struct op_call *call, struct op_range_fault *fault)
{
    struct looking looking;
    if (call->type->n_contents == 0)
        return true;
    looking_init(&looking, call, fault);
    bool wrong_shapes = looking.e.failed, known = false;
    for (uint32_t i = 0; i < call->type->n_contents && !looking.e.failed; i++) {
        const struct op_content_rule *rule = &call->type->contents[i];
        if (i == 0 || rule->operand != call->type->contents[i - 1].operand)
            known = open_operand(&looking, rule->operand);
        if (known && rule->rule.slot != NONE)
            look_at_shape(&looking, &rule->rule);
        else if (known && rule->by_element)
            look_by_element(&looking, &rule->rule);
        else if (known)
            look_at_all(&looking, &rule->rule);
    }
    evaluator_free(&looking.e);
    return wrong_shapes || !looking.e.failed;
}

/* Whether a part of a rule is `contents` of the slot. */
static bool has_contents(const struct rule *rule, uint32_t slot)
{
    bool found = rule->kind == RULE_CALL && rule->number == RULE_FN_contents &&
                 rule->args[0]->number == (int64_t)slot;
    for (uint32_t i = 0; i < rule->n_args && !found; i++)
        found = has_contents(rule->args[i], slot);
    return found;
}

bool op_range_needs(const struct op_type *type, uint32_t slot)
{
    for (uint32_t i = 0; i < type->n_contents; i++)
        if (type->contents[i].operand == slot || has_contents(type->contents[i].rule.value, slot))
            return true;
    return false;
}

/* ------------------------------------------------------------------------ choosing ---- */

static void narrow(struct op_range *range, const struct allowed *allowed)
{
    if (allowed->kind == ALLOWED_RANGE) {
        range->low = allowed->low > range->low ? allowed->low : range->low;
        range->high = allowed->high < range->high ? allowed->high : range->high;
    }
    if (allowed->kind != ALLOWED_LIST || range->listed)
        return;
    range->listed = true;
    for (uint32_t i = 0; i < allowed->list.count && range->count < MAX_RANGE_LIST; i++)
        if (allowed->list.dims[i].known)
            range->list[range->count++] = allowed->list.dims[i].number;
}

bool op_range_narrow(const struct op_call *call, const struct op_element *element,
                     struct op_range *range)
{
    struct looking looking;
    bool same = true;
    looking_init(&looking, call, NULL);
    memcpy(looking.e.element, element->at, sizeof element->at);
    for (uint32_t i = 0; i < call->type->n_contents; i++) {
        const struct op_content_rule *rule = &call->type->contents[i];
        if (rule->operand != call->tensors[element->tensor].slot)
            continue;
        same = same && !rule->by_element && rule->rule.slot == NONE;
        if (rule->rule.slot != NONE || rule_speaks_of(rule->rule.value, ELEMENT_VALUE))
            continue;
        struct allowed allowed = allowed_by(&looking.e, &rule->rule);
        if (!looking.e.failed)
            narrow(range, &allowed);
        looking.e.failed = false; /* by what stands there now */
    }
    evaluator_free(&looking.e);
    return same;
}

bool op_range_allows(const struct op_call *call, const struct op_element *element)
{
    struct looking looking;
    bool ok = true;
    looking_init(&looking, call, NULL);
    memcpy(looking.e.element, element->at, sizeof element->at);
    for (uint32_t i = 0; i < call->type->n_contents && ok; i++) {
        const struct op_content_rule *rule = &call->type->contents[i];
        if (rule->operand != call->tensors[element->tensor].slot || rule->rule.slot != NONE)
            continue;
        struct allowed allowed = allowed_by(&looking.e, &rule->rule);
        ok = !looking.e.failed && allows(&allowed, element->at[ELEMENT_VALUE]);
    }
    evaluator_free(&looking.e);
    return ok;
}
