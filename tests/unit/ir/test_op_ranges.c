/* What may stand in operands: rules of contents say what they are to, strided shapes are those that
 * counting gives, and what is chosen by a rule is allowed by it. */
#include "ir/optypes/op_eval.h"
#include "ir/optypes/op_shapes.h"
#include "ir/support/file_fault.h"
#include "tests/unit/random_graph.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

/* ---------------------------------------------------------------------------- harness ---- */

enum { MAX_TENSORS = 5, MAX_NUMBERS = 16 };

/* An op of the operands x, i, j and the results y, z*, all of which are there. */
struct trial {
    struct op_types *types;
    struct op_tensor tensors[MAX_TENSORS];
    int64_t dims[MAX_TENSORS][MAX_NUMBERS];
    int64_t contents[MAX_TENSORS][MAX_NUMBERS];
    bool known[MAX_TENSORS];
    struct op_call call;
};

static bool contents_of(const struct op_call *call, uint32_t tensor, struct arena *arena,
                        struct op_contents *found)
{
    const struct trial *trial = call->contents_user;
    uint64_t count = 1;
    (void)arena;
    for (uint32_t i = 0; i < call->tensors[tensor].rank; i++)
        count *= (uint64_t)call->tensors[tensor].dims[i];
    *found = (struct op_contents){trial->contents[tensor], count};
    return trial->known[tensor];
}

/* "2 3" as numbers; their count. */
static uint32_t read_numbers(const char *text, int64_t *numbers)
{
    uint32_t count = 0;
    for (char *end; *text; text = end + strspn(end, " "))
        numbers[count++] = strtoll(text, &end, 10);
    return count;
}

/* `values` are members, in JSON; shapes are texts of x, i, j, y and z, contents of i and j, where
 * NULL is not known. */
static void trial_open(struct trial *trial, const char *values, const char *const shapes[4],
                       const char *const contents[2])
{
    char json[2000];
    struct file_fault fault;
    *trial = (struct trial){.types = op_types_new()};
    snprintf(json, sizeof json,
             "{\"T\": {\"operands\": [\"x\", \"i\", \"j\"], \"results\": [\"y\", \"z*\"],"
             "\"dtypes\": {\"i\": \"i32 | i64\", \"j\": \"i\"},"
             "\"shape\": [\"x = [..r, k]\"], \"values\": {%s}}}",
             values);
    bool ok = op_types_add(trial->types, "t.ops.json", json, strlen(json), &fault);
    if (!ok)
        fail_msg("%s", fault.text);
    for (uint32_t i = 0; i < 4; i++)
        trial->tensors[i] =
            (struct op_tensor){i, read_numbers(shapes[i], trial->dims[i]), trial->dims[i], 32};
    for (uint32_t i = 0; i < 2; i++)
        if ((trial->known[1 + i] = contents[i] != NULL))
            read_numbers(contents[i], trial->contents[1 + i]);
    trial->call = (struct op_call){.type = op_types_find(trial->types, "T", 1),
                                   .tensors = trial->tensors,
                                   .n_tensors = 4,
                                   .contents = contents_of,
                                   .contents_user = trial};
}

/* ------------------------------------------------------------------------------ rules ---- */

static const struct {
    const char *values, *shapes[4], *contents[2], *error;
} cases[] = {
    {"\"i\": \"0 .. x[0] - 1\"", {"4 2", "3", "", "1"}, {"0 3 1", "0"}, NULL},
    {"\"i\": \"0 .. x[0] - 1\"", {"4 2", "3", "", "1"}, {NULL, "0"}, NULL},
    {"\"i\": \"0 .. x[0] - 1\"",
     {"4 2", "3", "", "1"},
     {"0 3 4", "0"},
     "element [2] of operand 'i' of T is 4, but must be 0 to 3 by '0 .. x[0] - 1'"},
    {"\"i\": \"0 .. x[0] - 1\"",
     {"4 2", "2 2", "", "1"},
     {"0 3 -1 0", "0"},
     "element [1, 0] of operand 'i' of T is -1, but must be 0 to 3 by '0 .. x[0] - 1'"},
    {"\"i\": \"0 .. x[0] - 1\"",
     {"0 2", "", "", "1"},
     {"0", "0"},
     "operand 'i' of T is 0, but nothing is right there by '0 .. x[0] - 1'"},
    {"\"i\": \"0 .. x[0] - 1\"", {"0 2", "0", "", "1"}, {"", "0"}, NULL},
    {"\"i\": \"0 .. k\"",
     {"4 2", "", "", "1"},
     {"3", "0"},
     "operand 'i' of T is 3, but must be 0 to 2 by '0 .. k'"},
    {"\"i\": \"[x[place], -1]\"", {"4 2", "2", "", "1"}, {"-1 2", "0"}, NULL},
    {"\"i\": \"[x[place], -1]\"",
     {"4 2", "2", "", "1"},
     {"4 4", "0"},
     "element [1] of operand 'i' of T is 4, but must be 2 or -1 by '[x[place], -1]'"},
    {"\"i\": \"[]\"",
     {"4 2", "1", "", "1"},
     {"4", "0"},
     "operand 'i' of T is 4, but nothing is right there by '[]'"},
    {"\"i\": \"before .. 9\"", {"4 2", "3", "", "1"}, {"0 4 4", "0"}, NULL},
    {"\"i\": \"before .. 9\"",
     {"4 2", "3", "", "1"},
     {"0 4 3", "0"},
     "element [2] of operand 'i' of T is 3, but must be 4 to 9 by 'before .. 9'"},
    {"\"i\": \"0 .. 9 - sum\"",
     {"4 2", "3", "", "1"},
     {"5 4 1", "0"},
     "element [2] of operand 'i' of T is 1, but must be 0 by '0 .. 9 - sum'"},
    {"\"i\": \"0 .. 9 - sum\"",
     {"4 2", "3", "", "1"},
     {"9223372036854775807 9223372036854775807 1", "0"},
     "element [0] of operand 'i' of T is 9223372036854775807, but must be 0 to 9 by "
     "'0 .. 9 - sum'"},
    {"\"i\": \"element % 2 == 0\"",
     {"4 2", "2", "", "1"},
     {"2 3", "0"},
     "element [1] of operand 'i' of T is 3, for which 'element % 2 == 0' does not hold"},
    {"\"i\": \"0 .. x[contents(j)[0]] - 1\"",
     {"4 2", "1", "", "1"},
     {"2", "1"},
     "operand 'i' of T is 2, but must be 0 to 1 by '0 .. x[contents(j)[0]] - 1'"},
    {"\"i\": \"0 .. x[contents(j)[0]] - 1\"", {"4 2", "1", "", "1"}, {"2", NULL}, NULL},
    {"\"j\": \"-rank(x) .. rank(x) - 1\", \"i\": \"0 .. x[contents(j)[0]] - 1\"",
     {"4 2", "1", "", "1"},
     {"2", "2"},
     "operand 'j' of T is 2, but must be -2 to 1 by '-rank(x) .. rank(x) - 1'"},
    {"\"i\": \"y = permute(x, contents(i))\"",
     {"4 2", "2", "", "4 2"},
     {"1 0", "0"},
     "operand 'i' is [1, 0]: by it 'y' of T is [2, 4], not [4, 2]"},
    {"\"i\": \"y = permute(x, contents(i))\"",
     {"4 2", "2", "", "4 2"},
     {"1 1", "0"},
     "operand 'i' is [1, 1]: not every dimension stands in the order once, by which T has "
     "'y = permute(x, contents(i))'"},
    {"\"i\": [\"-9 .. 9\", \"size(contents(i)) == rank(x)\"]",
     {"4 2", "1", "", "4 2"},
     {"1", "0"},
     "operand 'i' of T is 1, for which 'size(contents(i)) == rank(x)' does not hold"},
    {"\"i\": \"x[0] == 4 ? 0 .. 1 : 5 .. 6\"", {"4 2", "", "", "1"}, {"1", "0"}, NULL},
    {"\"i\": \"x[0] == 3 ? 0 .. 1 : true\"", {"4 2", "", "", "1"}, {"1", "0"}, NULL},
};

static void test_rules(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct trial trial;
        struct op_range_fault fault;
        trial_open(&trial, cases[i].values, cases[i].shapes, cases[i].contents);
        bool ok = op_ranges_check(&trial.call, &fault);
        if (!ok)
            assert_string_equal(fault.text, cases[i].error ? cases[i].error : "");
        assert_int_equal(ok, cases[i].error == NULL);
        op_types_free(trial.types);
    }
}

/* ---------------------------------------------------------------------------- strided ---- */

/* How many places of a dimension a Python slice has, by counting them. */
static int64_t count_places(int64_t dim, int64_t begin, int64_t end, int64_t step)
{
    int64_t count = 0;
    begin += begin < 0 ? dim : 0;
    end += end < 0 ? dim : 0;
    begin = step > 0 ? (begin < 0 ? 0 : begin) : (begin >= dim ? dim - 1 : begin);
    for (int64_t at = begin; step > 0 ? at < end && at < dim : at > end && at >= 0; at += step)
        count += at >= 0 && at < dim;
    return count;
}

static struct rule_value list_of(struct evaluator *e, int64_t number)
{
    struct rule_value list = rule_list(e, 1);
    list.dims[0] = rule_known(number);
    return list;
}

static void test_strided(void **state)
{
    (void)state;
    for (int64_t dim = 0; dim < 5; dim++)
        for (int64_t begin = -6; begin < 7; begin++)
            for (int64_t end = -6; end < 7; end++)
                for (int64_t step = -3; step < 4; step++) {
                    struct op_fault fault;
                    struct op_call call = {.type = &(struct op_type){.name = "T"}};
                    struct evaluator e;
                    evaluator_init(&e, &call, &fault);
                    e.rule = &(struct op_rule){.text = "rule"};
                    struct rule_value args[9];
                    for (int i = 4; i < 9; i++)
                        args[i] = rule_number(0);
                    args[0] = list_of(&e, dim);
                    args[1] = list_of(&e, begin);
                    args[2] = list_of(&e, end);
                    args[3] = list_of(&e, step);
                    struct rule_value out = rule_strided(&e, args);
                    assert_int_equal(e.failed, step == 0);
                    if (step)
                        assert_int_equal(out.dims[0].number, count_places(dim, begin, end, step));
                    arena_free(&e.arena);
                }
}

/* --------------------------------------------------------------------------- choosing ---- */

static const char *const choosable[] = {
    "\"0 .. x[0] - 1\"",
    "\"before .. x[0]\"",
    "\"0 .. x[0] - sum\"",
    "\"[x[place % 2], -1]\"",
    "[\"-rank(x) .. rank(x) - 1\", \"x[element] > 0\"]",
    "\"place % 2 == 0 ? 0 .. x[0] : [x[0] - before]\"",
};

/* Whatever stands there before, what is chosen in the range of each element is allowed, and all of
 * them together are; any that is outside is not. */
static void test_choice(void **state)
{
    (void)state;
    struct random random = {7};
    for (uint32_t i = 0; i < 400; i++) {
        char values[300], dims[40];
        struct trial trial;
        struct op_range_fault fault;
        snprintf(values, sizeof values, "\"i\": %s",
                 choosable[i % (sizeof choosable / sizeof choosable[0])]);
        snprintf(dims, sizeof dims, "%u %u", 1 + random_below(&random, 5),
                 1 + random_below(&random, 5));
        trial_open(&trial, values, (const char *const[]){dims, "6", "", "1"},
                   (const char *const[]){"99 99 99 99 99 99", "0"});
        struct op_element element = {.tensor = 1};
        for (uint32_t n = 0; n < 6; n++) {
            struct op_range range = {.low = INT32_MIN, .high = INT32_MAX};
            element.at[ELEMENT_PLACE] = n;
            op_range_narrow(&trial.call, &element, &range);
            assert_true(range.low <= range.high && (!range.listed || range.count > 0));
            uint32_t span = (uint32_t)(range.high - range.low);
            int64_t outside = range.listed ? 77 : range.high + 1;
            element.at[ELEMENT_VALUE] = outside;
            assert_false(op_range_allows(&trial.call, &element));
            element.at[ELEMENT_VALUE] = range.listed
                                            ? range.list[random_below(&random, range.count)]
                                            : range.low + random_below(&random, span + 1);
            assert_true(op_range_allows(&trial.call, &element));
            trial.contents[1][n] = element.at[ELEMENT_BEFORE] = element.at[ELEMENT_VALUE];
            element.at[ELEMENT_SUM] += element.at[ELEMENT_VALUE];
        }
        assert_true(op_ranges_check(&trial.call, &fault));
        uint32_t wrong = random_below(&random, 6);
        trial.contents[1][wrong] = 1000;
        assert_false(op_ranges_check(&trial.call, &fault));
        char expected[40];
        snprintf(expected, sizeof expected, "element [%u] of operand 'i' of T is 1000", wrong);
        assert_memory_equal(fault.text, expected, strlen(expected));
        op_types_free(trial.types);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_strided),
        cmocka_unit_test(test_choice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
