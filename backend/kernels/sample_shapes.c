/* Rules of a kernel are texts in the language of op data (docs/op-types.md), read and evaluated
 * after those of the op's type, whose variables they may use. */
#include "backend/kernels/sample_shapes.h"
#include "ir/op_rules.h"
#include "ir/op_shapes.h"

#include <inttypes.h>
#include <string.h>

/* ------------------------------------------------------------------------------- rules ---- */

/* The tensors of an op for the rules of its type, with the place of each. */
struct rule_tensors {
    struct op_tensor *tensors;
    uint32_t *places;
    uint32_t count;
};

static void add_rule_tensor(struct rule_tensors *all, const struct op_check *check, unsigned place,
                            const struct skrt_tensor *tensor)
{
    all->places[all->count] = place;
    all->tensors[all->count++] =
        (struct op_tensor){.slot = op_tensor_slot(check, place),
                           .rank = tensor->rank,
                           .dims = tensor->dims,
                           .bits = dtype_info((enum dtype)tensor->dtype)->bits};
}

static void rule_tensors_init(struct rule_tensors *all, const struct op_check *check,
                              struct arena *arena)
{
    uint64_t count = 0;
    for (unsigned i = 0; i < check->operands + check->results; i++)
        count += check->tensors[i].form == SKRT_LIST ? check->tensors[i].count : 1;
    *all = (struct rule_tensors){arena_alloc(arena, (count + 1) * sizeof *all->tensors),
                                 arena_alloc(arena, (count + 1) * sizeof *all->places), 0};
    for (unsigned i = 0; i < check->operands + check->results; i++) {
        const struct skrt_tensor *tensor = &check->tensors[i];
        if (tensor->form == SKRT_TENSOR)
            add_rule_tensor(all, check, i, tensor);
        for (uint64_t n = 0; tensor->form == SKRT_LIST && n < tensor->count; n++)
            add_rule_tensor(all, check, i, &tensor->list[n]);
    }
}

static bool attr_of_check(const struct op_call *call, const struct op_attr *attr,
                          struct arena *arena, struct op_attr_value *value)
{
    const struct op_check *check = call->user;
    (void)arena;
    for (unsigned i = 0; i < check->n_attrs; i++) {
        if (strncmp(check->attrs[i].key, attr->name, SKRT_ATTR_KEY) != 0)
            continue;
        *value = (struct op_attr_value){.numbers = &check->attrs[i].i, .count = 1};
        if (check->attrs[i].ints != NULL)
            *value =
                (struct op_attr_value){check->attrs[i].ints, (uint32_t)check->attrs[i].count, NULL};
        value->text = check->attrs[i].text;
        return true;
    }
    return false;
}

/* The type with the rules of the kernel after its own, which are read again to bind their
 * variables. */
static const struct op_type *type_with_rules(const struct op_check *check, struct arena *arena)
{
    struct rule_variables variables = {.count = 0};
    struct op_type *type = arena_alloc(arena, sizeof *type);
    struct op_rule *rules;
    uint32_t own = check->type->n_shape, count = own;
    char error[200];
    while (check->row->rules[count - own] != NULL)
        count++;
    rules = arena_alloc(arena, count * sizeof *rules);
    *type = *check->type;
    type->name = "the sample kernel"; /* in messages: rules of the type hold already */
    for (uint32_t i = 0; i < count; i++) {
        const char *text = i < own ? type->shape[i].text : check->row->rules[i - own];
        bool ok = op_rule_parse(arena, check->type, text, RULE_FOR_SHAPES, &variables, &rules[i],
                                error, sizeof error);
        assert(ok);
        (void)ok;
    }
    type->shape = rules;
    type->n_shape = count;
    return type;
}

static bool check_rules(const struct op_check *check, const struct op_type *type,
                        struct arena *scratch)
{
    struct rule_tensors all;
    struct op_fault fault;
    rule_tensors_init(&all, check, scratch);
    const struct op_call call = {.type = type,
                                 .tensors = all.tensors,
                                 .n_tensors = all.count,
                                 .attr = attr_of_check,
                                 .user = check};
    if (op_shapes_check(&call, &fault))
        return true;
    uint32_t place = fault.tensor == NONE ? 0 : all.places[fault.tensor];
    return op_fail(check, op_shape_id(check, place), (int)place, "%s", fault.text);
}

bool shapes_check(const struct op_check *check)
{
    struct arena scratch = {NULL, 0};
    bool ok = check_rules(check, check->type, &scratch) &&
              (check->row->rules[0] == NULL ||
               check_rules(check, type_with_rules(check, &scratch), &scratch));
    arena_free(&scratch);
    return ok;
}

/* ------------------------------------------------------------------------------ dtypes ---- */

bool dtypes_of_product(const struct op_check *check)
{
    const struct skrt_tensor *x = check->tensors;
    unsigned y = check->operands;
    bool tiled = x->dtype == SKRT_f32 || x->dtype == SKRT_f16 || x->dtype == SKRT_bf16;
    for (unsigned i = 1; i <= y; i++) {
        const struct skrt_tensor *other = &check->tensors[i];
        bool other_tiled =
            other->dtype == SKRT_f32 || other->dtype == SKRT_f16 || other->dtype == SKRT_bf16;
        if (other->form != SKRT_ABSENT && (tiled ? !other_tiled : other->dtype != x->dtype))
            return op_fail(check, i == y ? "result-dtype" : "operand-dtype", (int)i,
                           "%s must be %s %s", op_tensor_name(check, i).text,
                           tiled ? "f32, f16 or bf16, as is" : "of the data type of",
                           op_tensor_name(check, 0).text);
    }
    for (unsigned i = 0; i < 2; i++)
        if (!tiled && check->tensors[i].format != SKRT_ND)
            return op_fail(check, "operand-format", (int)i,
                           "%s of this data type must have the format ND",
                           op_tensor_name(check, i).text);
    return true;
}

bool dtypes_of_softmax(const struct op_check *check)
{
    return check->tensors[0].dtype != SKRT_f64 || check->tensors[1].dtype == SKRT_f64 ||
           op_fail(check, "result-dtype", 1, "%s must be f64 like %s",
                   op_tensor_name(check, 1).text, op_tensor_name(check, 0).text);
}

bool dtypes_of_round(const struct op_check *check)
{
    const struct skrt_attr *decimals = op_check_attr(check, "decimals");
    uint32_t dtype = check->tensors[0].dtype;
    bool floats = dtype == SKRT_f32 || dtype == SKRT_f16 || dtype == SKRT_bf16 || dtype == SKRT_f64;
    return decimals == NULL || decimals->i >= 0 || floats ||
           op_fail_attr(
               check, "decimals",
               "the sample kernel rounds integers with \"decimals\" of 0 or more, not %" PRId64,
               decimals->i);
}
