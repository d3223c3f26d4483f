#include "ir/optypes/op_shapes.h"
#include "ir/optypes/op_eval.h"

#include <stdio.h>
#include <string.h>

/* ------------------------------------------------------------------------- faults ---- */

static const char *noun(const struct evaluator *e, uint32_t tensor)
{
    return e->call->tensors[tensor].slot < e->call->type->n_operands ? "operand" : "result";
}

static void wrong_form(struct evaluator *e, uint32_t tensor, const struct rule *pattern)
{
    struct rule_value shape = rule_shape(e, tensor);
    const struct rule *rest = NULL; /* it stands for several dimensions of another tensor */
    for (uint32_t i = 0; pattern->kind == RULE_LIST && i < pattern->n_args && !rest; i++) {
        const struct rule *item = pattern->args[i];
        if (item->kind == RULE_SPLICE && item->args[0]->kind == RULE_VARIABLE &&
            e->bindings[item->args[0]->number].value.kind == VALUE_LIST &&
            e->bindings[item->args[0]->number].tensor != tensor)
            rest = item->args[0];
    }
    const struct binding *bound = rest ? &e->bindings[rest->number] : NULL;
    rule_fail(e, tensor, bound ? bound->tensor : NONE, "%s '%s' %s of %s does not fit '%s'%s%s%s%s",
              noun(e, tensor), rule_slot(e, tensor)->name, rule_value_text(e, &shape).text,
              e->call->type->name, rule_text(e), bound ? ", where " : "", bound ? rest->text : "",
              bound ? " = " : "", bound ? rule_value_text(e, &bound->value).text : "");
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
    if (agree) {
        rule_refine(&binding->value, found);
        return;
    }
    struct rule_value shape = rule_shape(e, tensor), other = rule_shape(e, binding->tensor);
    rule_fail(e, tensor, binding->tensor, "%s '%s' %s of %s has %s = %s, but '%s' %s has %s = %s",
              noun(e, tensor), rule_slot(e, tensor)->name, rule_value_text(e, &shape).text,
              e->call->type->name, variable->text, rule_value_text(e, found).text,
              rule_slot(e, binding->tensor)->name, rule_value_text(e, &other).text, variable->text,
              rule_value_text(e, &binding->value).text);
}

/* How many dimensions each item of a pattern takes of a tensor of `rank` dimensions. False where
 * that is wrong, or not known. */
static bool pattern_widths(struct evaluator *e, uint32_t tensor, const struct rule *pattern,
                           uint32_t *widths)
{
    uint32_t rest = NONE, rank = e->call->tensors[tensor].rank;
    uint64_t fixed = 0;
    for (uint32_t i = 0; i < pattern->n_args; i++) {
        const struct rule *item = pattern->args[i];
        struct rule_value value = {.kind = VALUE_LIST, .count = 1};
        if (item->kind == RULE_SPLICE)
            value = rule_eval(e, item->args[0]);
        widths[i] = value.count;
        if (value.kind == VALUE_LIST)
            fixed += widths[i];
        else if (rest != NONE)
            return false;
        else
            rest = i;
    }
    if (rest == NONE ? fixed != rank : fixed > rank) {
        wrong_form(e, tensor, pattern);
        return false;
    }
    if (rest != NONE)
        widths[rest] = rank - (uint32_t)fixed;
    return true;
}

static void match_pattern(struct evaluator *e, uint32_t tensor, const struct rule *pattern)
{
    struct rule_value shape = rule_shape(e, tensor);
    uint32_t *widths = arena_alloc(&e->arena, (pattern->n_args + 1) * sizeof *widths), at = 0;
    if (shape.kind != VALUE_LIST || !pattern_widths(e, tensor, pattern, widths))
        return;
    for (uint32_t i = 0; i < pattern->n_args && !e->failed; at += widths[i++]) {
        bool splice = pattern->args[i]->kind == RULE_SPLICE;
        const struct rule *inner = splice ? pattern->args[i]->args[0] : pattern->args[i];
        struct rule_value found = rule_list(e, widths[i]);
        if (widths[i])
            memcpy(found.dims, shape.dims + at, widths[i] * sizeof *found.dims);
        if (!splice)
            found = rule_dim_value(shape.dims[at]);
        if (inner->kind == RULE_VARIABLE) {
            bind(e, tensor, inner, &found);
            continue;
        }
        struct rule_value expected = rule_eval(e, inner);
        if (splice
                ? expected.kind == VALUE_LIST && !rule_lists_agree(&expected, &found)
                : expected.kind == VALUE_NUMBER && !rule_dims_agree(expected.number, found.number))
            wrong_form(e, tensor, pattern);
    }
}

/* ---------------------------------------------------------------------------- rules ---- */

/* The branch of choices that holds; NULL where that is not known. */
static const struct rule *rule_choose(struct evaluator *e, const struct rule *rule)
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

/* The shape that a rule says of its slot, the tensor where it is told; one with a dimension below 0
 * is a fault. */
static struct rule_value rule_shape_said(struct evaluator *e, uint32_t tensor,
                                         const struct rule *value)
{
    struct rule_value shape = rule_eval(e, value);
    for (uint32_t i = 0; shape.kind == VALUE_LIST && i < shape.count; i++)
        if (shape.dims[i].known && shape.dims[i].number < 0)
            rule_fail(e, tensor, NONE, "'%s' of %s would be %s by '%s'",
                      e->call->type->slots[e->rule->slot].name, e->call->type->name,
                      rule_value_text(e, &shape).text, rule_text(e));
    return e->failed ? rule_unknown : shape;
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

/* `by_contents`: it is a rule of contents, of which the shape follows; patterns are in others. */
static void check_slot(struct evaluator *e, const struct rule *value, bool by_contents)
{
    struct rule_dim dims[MAX_RANK];
    struct rule_value expected = rule_unknown;
    bool operand = e->rule->slot < e->call->type->n_operands, first = true;
    bool pattern = operand && !by_contents && value->kind == RULE_LIST && has_variables(value);
    e->nth = 0;
    /* Whose shape it would be is not told, but it may be impossible. */
    if (!operand && !e->rule->each && rule_tensor(e, e->rule->slot) == NONE)
        rule_shape_said(e, NONE, value);
    for (uint32_t i = 0; i < e->call->n_tensors && !e->failed; i++) {
        if (e->call->tensors[i].slot != e->rule->slot)
            continue;
        if (pattern) {
            match_pattern(e, i, value);
            continue;
        }
        if (first || e->rule->each)
            expected = rule_shape_said(e, i, value);
        struct rule_value found = rule_shape_in(e, i, dims);
        bool agree = expected.kind != VALUE_LIST || found.kind != VALUE_LIST ||
                     rule_lists_agree(&expected, &found);
        const char *name = rule_slot(e, i)->name, *type = e->call->type->name;
        if (!agree && by_contents)
            rule_fail(e, i, NONE, "by it '%s' of %s is %s, not %s", name, type,
                      rule_value_text(e, &expected).text, rule_value_text(e, &found).text);
        else if (!agree)
            rule_fail(e, i, NONE, "%s '%s' of %s is %s, but by '%s' it is %s", noun(e, i), name,
                      type, rule_value_text(e, &found).text, rule_text(e),
                      rule_value_text(e, &expected).text);
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

/* A comparison that does not hold: what both sides come to, but of a remainder or quotient what it
 * is of. Of several conditions together: what the first comparison is about, an attribute or a
 * variable. */
static void check_condition(struct evaluator *e, const struct rule *value)
{
    struct rule_value holds = rule_eval(e, value), a, b;
    const int64_t *number = rule_as_number(&holds);
    const char *type = e->call->type->name, *text = e->rule->text;
    const struct rule *left = value->args[0], *right = value->args[1];
    if (e->failed || !number || *number)
        return;
    uint32_t tensor = subject(e, value);
    if (value->kind != RULE_BINARY || value->number <= RULE_AND) {
        for (left = value;
             left->kind == RULE_NOT || (left->kind == RULE_BINARY && left->number <= RULE_GT);)
            left = left->args[0];
        bool named = left->kind == RULE_ATTR || left->kind == RULE_VARIABLE;
        a = named ? rule_eval(e, left) : rule_unknown;
        const char *name = !named                    ? ""
                           : left->kind == RULE_ATTR ? e->call->type->attrs[left->number].name
                                                     : left->text;
        rule_fail(e, tensor, NONE, "%s has '%s', which does not hold%s%s%s%s", type, rule_text(e),
                  named ? " for " : "", name, named ? " = " : "",
                  named ? rule_value_text(e, &a).text : "");
        return;
    }
    bool quotient =
        left->kind == RULE_BINARY && (left->number == RULE_MOD || left->number == RULE_DIV);
    if (quotient) {
        right = left->args[1];
        left = left->args[0];
    }
    a = rule_eval(e, left);
    b = rule_eval(e, right);
    if (!quotient)
        rule_fail(e, tensor, NONE, "%s has '%s', which does not hold for %s and %s", type,
                  rule_text(e), rule_value_text(e, &a).text, rule_value_text(e, &b).text);
    else if (right->kind == RULE_NUMBER)
        rule_fail(e, tensor, NONE, "%s has '%s', but '%.*s' is %s", type, rule_text(e),
                  (int)(left->end - left->begin), text + left->begin, rule_value_text(e, &a).text);
    else
        rule_fail(e, tensor, NONE, "%s has '%s', but '%.*s' is %s and '%.*s' is %s", type,
                  rule_text(e), (int)(left->end - left->begin), text + left->begin,
                  rule_value_text(e, &a).text, (int)(right->end - right->begin),
                  text + right->begin, rule_value_text(e, &b).text);
}

static void run_rule(struct evaluator *e, const struct op_rule *rule, bool by_contents)
{
    e->rule = rule;
    const struct rule *value = rule_choose(e, rule->value);
    if (!value || e->failed)
        return;
    if (rule->slot == NONE)
        check_condition(e, value);
    else
        check_slot(e, value, by_contents);
    if (e->failed && e->fault->tensor == NONE)
        e->fault->tensor = subject(e, value);
}

void evaluator_init(struct evaluator *e, const struct op_call *call, struct op_fault *fault)
{
    *e = (struct evaluator){.call = call, .fault = fault};
    for (uint32_t i = 0; i < MAX_RULE_VARIABLES; i++)
        e->bindings[i].tensor = NONE;
}

/* All rules of shapes, which bind variables. Whether they hold shows in `failed`. */
static void rules_run(struct evaluator *e)
{
    for (uint32_t i = 0; i < e->call->type->n_shape && !e->failed; i++)
        run_rule(e, &e->call->type->shape[i], false);
}

static void evaluator_free(struct evaluator *e)
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

bool op_shapes_check(const struct op_call *call, struct op_fault *fault)
{
    struct evaluator e;
    evaluator_init(&e, call, fault);
    rules_run(&e);
    for (uint32_t i = 0; i < call->n_tensors && !e.failed; i++) {
        uint32_t operand = updated_operand(&e, i);
        struct rule_value found = rule_shape(&e, i);
        struct rule_value expected = operand == NONE ? rule_unknown : rule_shape(&e, operand);
        if (found.kind == VALUE_LIST && expected.kind == VALUE_LIST &&
            !rule_lists_agree(&found, &expected))
            rule_fail(&e, i, operand,
                      "result '%s' of %s is %s, but the operand that it updates is %s",
                      rule_slot(&e, i)->name, call->type->name, rule_value_text(&e, &found).text,
                      rule_value_text(&e, &expected).text);
    }
    evaluator_free(&e);
    return !e.failed;
}

/* Rules of shapes say more once more shapes are known. What they then have against these does not
 * count here: the shapes are told all the same, and so is what is wrong, of whoever has them. */
bool op_shapes_infer(const struct op_call *call, struct module *module, struct arena *arena,
                     struct op_shape *shapes, struct op_fault *fault)
{
    const struct op_type *type = call->type;
    struct evaluator e;
    struct op_contents known;
    uint64_t ruled = 0; /* slots whose shapes rules say */
    bool more = false;
    for (uint32_t i = 0; i < type->n_shape; i++)
        if (type->shape[i].slot != NONE)
            ruled |= UINT64_C(1) << type->shape[i].slot;
    evaluator_init(&e, call, fault);
    e.inferred = arena_alloc(&e.arena, (call->n_tensors + 1) * sizeof *e.inferred);
    for (uint32_t i = 0; i < call->n_tensors; i++)
        e.inferred[i] = rule_unknown;
    rules_run(&e);
    for (uint32_t i = 0; call->contents && i < type->n_contents && !e.failed; i++) {
        const struct op_rule *rule = &type->contents[i].rule;
        uint32_t operand = rule_tensor(&e, type->contents[i].operand);
        if (rule->slot == NONE || rule->slot < type->n_operands || operand == NONE ||
            !call->contents(call, operand, &e.arena, &known))
            continue;
        run_rule(&e, rule, false);
        more = true;
    }
    if (more && !e.failed) {
        rules_run(&e);
        e.failed = false;
    }
    for (uint32_t i = 0; i < call->n_tensors; i++) {
        uint32_t operand = updated_operand(&e, i);
        if (operand != NONE && call->tensors[i].rank == RANK_UNKNOWN && !e.failed) {
            struct rule_value shape = rule_shape(&e, operand);
            take_shape(&e, i, &shape);
        }
        struct rule_value *shape = &e.inferred[i];
        bool is = shape->kind == VALUE_LIST, fits = shape->count <= MAX_RANK;
        shapes[i] = (struct op_shape){
            .ruled = operand != NONE || (ruled >> call->tensors[i].slot & 1),
            .rank = is && fits ? shape->count : RANK_UNKNOWN,
            .excess = is && !fits ? shape->count : 0,
        };
        if (!is || !fits)
            continue;
        int64_t *dims = arena_alloc(arena, (shape->count + 1) * sizeof *dims);
        for (uint32_t d = 0; d < shape->count; d++)
            dims[d] = rule_dim_of_type(&e, module, shape->dims[d]);
        shapes[i].dims = dims;
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

static struct allowed allowed_by(struct evaluator *e, const struct op_rule *rule)
{
    e->rule = rule;
    const struct rule *value = rule_choose(e, rule->value);
    if (!value || e->failed)
        return (struct allowed){.kind = ALLOWED_ALL};
    if (value->kind == RULE_RANGE) {
        struct rule_value low = rule_eval(e, value->args[0]), high = rule_eval(e, value->args[1]);
        const int64_t *from = rule_as_number(&low), *to = rule_as_number(&high);
        return (struct allowed){
            .kind = ALLOWED_RANGE, .low = from ? *from : INT64_MIN, .high = to ? *to : INT64_MAX};
    }
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

static void add_allowed(struct looking *looking, const struct allowed *allowed)
{
    enum { MOST = 8, MOST_TEXT = 64 };
    struct op_range_fault *fault = looking->fault;
    const struct rule_value *list = &allowed->list;
    const char *text = looking->e.rule->text;
    if (allowed->kind == ALLOWED_NONE) {
        add_text(fault, ", for which '%s' does not hold", rule_text(&looking->e));
        return;
    }
    bool nothing = allowed->kind == ALLOWED_RANGE ? allowed->low > allowed->high : list->count == 0;
    add_text(fault, nothing ? ", but nothing is right there" : ", but must be ");
    for (uint32_t i = 0; allowed->kind == ALLOWED_LIST && i < list->count && i < MOST; i++)
        add_text(fault, "%s%lld",
                 i == 0                                  ? ""
                 : i + 1 == list->count && i + 1 <= MOST ? " or "
                                                         : ", ",
                 (long long)list->dims[i].number);
    if (allowed->kind == ALLOWED_LIST && list->count > MOST)
        add_text(fault, " ...");
    else if (allowed->kind == ALLOWED_LIST || nothing)
        ;
    else if (allowed->low == allowed->high)
        add_text(fault, "%lld", (long long)allowed->low);
    else if (allowed->low == INT64_MIN)
        add_text(fault, "at most %lld", (long long)allowed->high);
    else if (allowed->high == INT64_MAX)
        add_text(fault, "at least %lld", (long long)allowed->low);
    else
        add_text(fault, "%lld to %lld", (long long)allowed->low, (long long)allowed->high);
    if (strlen(text) <= MOST_TEXT) /* longer ones say less than the numbers */
        add_text(fault, " by '%s'", text);
}

/* "element [1, 7] of operand 'i' of T is 9, but must be 0 to 7 by '0 .. 7'"; of a single element
 * without its place. */
static void wrong_element(struct looking *looking, uint64_t place, const struct allowed *allowed,
                          bool by_element)
{
    const struct op_call *call = looking->e.call;
    const struct op_tensor *tensor = &call->tensors[looking->tensor];
    uint32_t other = other_slot(looking->e.rule->value, tensor->slot);
    begin_fault(looking, other == NONE ? NONE : rule_tensor(&looking->e, other));
    if (looking->contents.count != 1 && tensor->rank <= MAX_RANK) {
        int64_t at[MAX_RANK];
        uint64_t rest = place;
        for (uint32_t i = tensor->rank; i-- > 0; rest /= (uint64_t)tensor->dims[i])
            at[i] = (int64_t)(rest % (uint64_t)tensor->dims[i]);
        add_text(looking->fault, "element [");
        for (uint32_t i = 0; i < tensor->rank; i++)
            add_text(looking->fault, "%s%lld", i ? ", " : "", (long long)at[i]);
        add_text(looking->fault, "] of ");
    }
    add_text(looking->fault, "operand '%s' of %s is %lld", call->type->slots[tensor->slot].name,
             call->type->name, (long long)looking->contents.at[place]);
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
    add_text(looking->fault, "operand '%s'", rule_slot(&looking->e, looking->tensor)->name);
    if (looking->contents.count == 1)
        add_text(looking->fault, " is %lld", (long long)looking->contents.at[0]);
    else if (all.kind == VALUE_LIST)
        add_text(looking->fault, " is %s", rule_value_text(&looking->e, &all).text);
    add_text(looking->fault, ": %s", looking->shapes.text);
}

/* ------------------------------------------------------------------------ checking ---- */

/* Forgets what was evaluated since the arena was another one, or empty. */
static void evaluator_forget(struct evaluator *e)
{
    e->attrs = NULL;
    e->made = 0;
}

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

static void looking_init(struct looking *looking, const struct op_call *call,
                         struct op_range_fault *fault)
{
    *looking = (struct looking){.fault = fault};
    evaluator_init(&looking->e, call, &looking->shapes);
    rules_run(&looking->e);
}

bool op_ranges_check(const struct op_call *call, struct op_range_fault *fault)
{
    const struct op_type *type = call->type;
    struct looking looking;
    struct evaluator *e = &looking.e;
    if (type->n_contents == 0)
        return true;
    looking_init(&looking, call, fault);
    bool wrong_shapes = e->failed, known = false;
    for (uint32_t i = 0; i < type->n_contents && !e->failed; i++) {
        const struct op_content_rule *rule = &type->contents[i];
        if (i == 0 || rule->operand != type->contents[i - 1].operand) {
            looking.tensor = rule_tensor(e, rule->operand);
            known = looking.tensor != NONE && call->contents &&
                    call->contents(call, looking.tensor, &e->arena, &looking.contents);
        }
        if (!known)
            continue;
        if (rule->by_element) {
            look_by_element(&looking, &rule->rule);
            continue;
        }
        struct allowed allowed = {.kind = ALLOWED_ALL};
        if (rule->rule.slot == NONE)
            allowed = allowed_by(e, &rule->rule);
        else
            run_rule(e, &rule->rule, true);
        if (e->failed)
            wrong_whole(&looking);
        for (uint64_t n = 0; n < looking.contents.count && !e->failed; n++)
            if (!allows(&allowed, looking.contents.at[n]))
                wrong_element(&looking, n, &allowed, false);
    }
    evaluator_free(e);
    return wrong_shapes || !e->failed;
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
