#include "ir/op_ranges.h"
#include "ir/op_eval.h"

#include <stdio.h>
#include <string.h>

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

/* The elements on their own; what is evaluated for one is released behind it. */
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
