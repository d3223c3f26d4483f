/* The rules of op types: what is no rule is refused, expressions are what they say, shapes that are
 * right pass and others do not, and nothing that is written or given breaks the evaluator. */
#include "ir/optypes/op_rules.h"
#include "ir/optypes/op_shapes.h"
#include "ir/shapes/dims.h"
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

enum { MAX_TENSORS = 4, MAX_DIMS = 6 };

/* A type with the operands a, b?, l* and the results y, z*, a rule, and an expression. */
struct trial {
    struct op_types *types;
    const struct op_type *type;
    char error[200];
};

/* The longest rule, and what stands around it. */
enum { MAX_TRIAL_RULE = 1500, MAX_TRIAL = MAX_TRIAL_RULE + 500 };

static bool trial_open_values(struct trial *trial, const char *rules, const char *values,
                              const char *flops)
{
    char json[MAX_TRIAL];
    trial->types = op_types_new();
    snprintf(json, sizeof json,
             "{\"T\": {\"operands\": [\"a\", \"b?\", \"l*\"], \"results\": [\"y\", \"z*\"],"
             "\"dtypes\": {\"b\": \"i64\"}, \"values\": {%s},"
             "\"attributes\": {\"n\": \"int\", \"m\": \"int = 3\", \"flag\": \"bool = false\","
             "\"list\": \"ints = [1, -1]\", \"text\": \"string = one\", \"real\": \"float = 1\"},"
             "\"shape\": [%s], \"flops\": \"%s\"}}",
             values, rules, flops);
    struct file_fault fault = {.path = NULL};
    bool ok = op_types_add(trial->types, "t.ops.json", json, strlen(json), &fault);
    snprintf(trial->error, sizeof trial->error, "%.*s", (int)sizeof trial->error - 1, fault.text);
    trial->type = op_types_find(trial->types, "T", 1);
    return ok;
}

static bool trial_open(struct trial *trial, const char *rules, const char *flops)
{
    return trial_open_values(trial, rules, "", flops);
}

static void trial_close(struct trial *trial)
{
    op_types_free(trial->types);
}

/* Tensors as a text: "a 2 3; y 2 ?", scalars having no numbers. */
struct tensors {
    struct op_tensor at[MAX_TENSORS];
    int64_t dims[MAX_TENSORS][MAX_DIMS];
    uint32_t count;
};

static uint32_t slot_of(const struct op_type *type, char name)
{
    for (uint32_t i = 0; i < type->n_operands + type->n_results; i++)
        if (type->slots[i].name[0] == name)
            return i;
    return NONE;
}

static void read_tensors(const struct op_type *type, const char *text, struct tensors *tensors)
{
    tensors->count = 0;
    while (*text) {
        struct op_tensor *tensor = &tensors->at[tensors->count];
        int64_t *dims = tensors->dims[tensors->count++];
        *tensor = (struct op_tensor){.slot = slot_of(type, *text++), .dims = dims, .bits = 16};
        for (; *text == ' '; text += strcspn(text, " ;")) {
            text++;
            if (*text == '.') /* the rank is not known */
                tensor->rank = RANK_UNKNOWN;
            else
                dims[tensor->rank++] = *text == '?' ? DIM_UNKNOWN : strtoll(text, NULL, 10);
        }
        text += strspn(text, "; ");
    }
}

/* The attribute n is 2. */
static bool attr_of(const struct op_call *call, const struct op_attr *attr, struct arena *arena,
                    struct op_attr_value *value)
{
    static const int64_t two = 2;
    (void)call;
    (void)arena;
    if (strcmp(attr->name, "n") != 0)
        return false;
    *value = (struct op_attr_value){.numbers = &two, .count = 1};
    return true;
}

static struct op_call call_of(const struct trial *trial, const struct tensors *tensors)
{
    return (struct op_call){
        .type = trial->type, .tensors = tensors->at, .n_tensors = tensors->count, .attr = attr_of};
}

/* ----------------------------------------------------------------------------- parsing ---- */

static const struct {
    const char *rule, *error;
} malformed[] = {
    {"", "a value is missing at the end"},
    {"y = ", "a value is missing at the end"},
    {"y = a a", "'a' is too much"},
    {"a == b)", "')' is too much"},
    {"y = [a[0]", "] is missing at the end"},
    {"y = a[0", "] is missing at the end"},
    {"y = (a", ") is missing at the end"},
    {"y = a ? b", ": is missing at the end"},
    {"y = a ? b : ", "a value is missing at the end"},
    {"y = a +", "a value is missing at the end"},
    {"y = a & b", "'& b' is too much"},
    {"text == 'one", "' is missing at the end"},
    {"y = [k]", "nothing says what 'k' is"},
    {"a = [k + 1]", "nothing says what 'k' is"},
    {"k == 1", "nothing says what 'k' is"},
    {"y = sort(a)", "there is no function 'sort'"},
    {"y = rank()", "'rank' takes 1 argument, not 0"},
    {"y = rank(a, b)", "'rank' takes 1 argument, not 2"},
    {"y = reduce(a, list)", "'reduce' takes 3 arguments, not 2"},
    {"y = broadcast()", "'broadcast' takes 1 argument or more, not 0"},
    {"count(l[0]) == 1", "'count' is of an operand or result, not of 'l[0]'"},
    {"y = [nth(y)]", "'nth' is of the list that its rule is about, not of 'y'"},
    {"a[nth(z)] == 1", "'nth' is of the list that its rule is about, not of 'z'"},
    {"a = [..v, k, ..w]", "'..v' and '..w' both have any length"},
    {"a = [..v, ..v]", "'..v' and '..v' both have any length"},
    {"a = [k, ..k]", "'k' is both a dimension and several"},
    {"a = [..[k]]", "nothing says what 'k' is"},
    {"a = 1 ? [k] : [..k]", "'k' is both a dimension and several"},
    {"a", "'a' is a list, not a condition"},
    {"list", "'list' is a list, not a condition"},
    {"text", "'text' is a text, not a condition"},
    {"1 == 1 && a", "'a' is a list, not a condition"},
    {"a ? 1 : 0", "'a' is a list, not a condition"},
    {"!a", "'a' is a list, not a condition"},
    {"y = rank(a)", "'rank(a)' is a number, not a shape"},
    {"a = n", "'n' is a number, not a shape"},
    {"y = [a]", "'a' is a list, not a number"},
    {"y = [..n]", "'n' is a number, not a list"},
    {"y = n ? a : 1", "'a' is a list, but '1' is a number"},
    {"n[0] == 1", "'n' is a number, not a list"},
    {"a[b] == 1", "'b' is a list, not a number"},
    {"text + 1 == 2", "'text' is a text, not a number or a list"},
    {"text < 'two'", "'text' is a text, not a number or a list"},
    {"text == 1", "'text == 1' compares a text with a number"},
    {"real == 1", "'real' has fractions, which rules do not"},
    {"rank(n) == 1", "'n' is a number, not a list"},
    {"y = ones(a)", "'a' is a list, not a number"},
    {"y = broadcast(a, n)", "'n' is a number, not a list"},
    {"n / (2 - 2) == 1", "'n / (2 - 2)' divides by 0"},
    {"n % -1 == 1", "'n % -1' divides by -1"},
    {"9223372036854775807 + 1 == n", "'9223372036854775807 + 1' does not fit 64 bits"},
    {"n == -9223372036854775807 - 2", "'-9223372036854775807 - 2' does not fit 64 bits"},
    {"y = 99999999999999999999", "a number is too large"},
    {"a = [v0, v1, v2, v3, v4, v5, v6, v7, v8, v9, w0, w1, w2, w3, w4, w5, w6]",
     "there are more than 16 variables"},
    {"((((((((((((((((((((((((((((((((((1))))))))))))))))))))))))))))))))))",
     "this is nested too deep"},
    {"----------------------------------------1 == 0", "this is nested too deep"},
};

static void test_malformed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++) {
        struct trial trial;
        char rules[300], expected[300];
        snprintf(rules, sizeof rules, "\"%s\"", malformed[i].rule);
        snprintf(expected, sizeof expected, "op type 'T': rule '%s': %s", malformed[i].rule,
                 malformed[i].error);
        expected[sizeof trial.error - 1] = '\0';
        assert_false(trial_open(&trial, rules, "0"));
        assert_string_equal(trial.error, expected);
        trial_close(&trial);
    }
}

/* ------------------------------------------------------------------------- expressions ---- */

/* Numbers for a[2, 3], b[4], l[2, 3] and l[5, 3], y[?, 7]; -999: not known. */
static const struct {
    const char *text;
    int64_t number;
} numbers[] = {
    {"1 + 2 * 3 - 4", 3},
    {"(1 + 2) * 3", 9},
    {"-7 / 2", -4},
    {"-7 % 3", 2},
    {"7 / 2 * 2", 6},
    {"7 / 2 + -7 / 2", -1},
    {"7 / (n - n)", -999},
    {"7 % (n - m)", -999},
    {"9223372036854775807 + n", -999},
    {"9223372036854775807 * n", -999},
    {"a[0] * 4611686018427387904", -999},
    {"size([9223372036854775807, n])", -999},
    {"size([9223372036854775807, n, n - n])", 0},
    {"1 < 2 && 2 <= 2 && 3 > 2 && 3 >= 3 && 1 != 2", 1},
    {"1 == 2 || !(1 == 1)", 0},
    {"y[0] == 1 && false", 0},
    {"y[0] == 1 || true", 1},
    {"y[0] == 1 && true", -999},
    {"1 ? 5 : 7 / (n - n)", 5},
    {"n == 3 && 7 / (n - n) == 1", 0},
    {"n == 2 || 7 / (n - n) == 1", 1},
    {"n == 2 && 7 / (n - n) == 1", -999},
    {"y[0] ? 5 : 5", -999},
    {"a > 1", 1},
    {"a > 2", 0},
    {"a != 4", 1},
    {"a != 3", 0},
    {"[2, 2] == 2", 1},
    {"2 == a", 0},
    {"a <= [2, 3]", 1},
    {"a < [3, 3]", 0},
    {"a < [3]", -999},
    {"y < 7", 0},
    {"y < 8", -999},
    {"list >= -1", 1},
    {"-list == [-1, 1]", 1},
    {"2 * a + 1 == [5, 7]", 1},
    {"sum(a)", 5},
    {"sum([])", 0},
    {"sum(y)", -999},
    {"fill([4, -1, -1], 7) == [4, 7, 7]", 1},
    {"fill(list, a) == [1, 3]", 1},
    {"sum(fill(list, [1, 2, 3]))", -999},
    {"has(a, 1) && has(a, -2) && has(a, [0, -1]) && has(a, [])", 1},
    {"has(a, 2)", -999},
    {"has(a, [0, -3])", -999},
    {"n * m", 6},
    {"flag", 0},
    {"list[0] - list[-1]", 2},
    {"list[2]", -999},
    {"text == 'one'", 1},
    {"text == 'two'", 0},
    {"rank(a)", 2},
    {"a[0] + a[-1] * 10", 32},
    {"a[2]", -999},
    {"size(b)", 4},
    {"size(a)", 6},
    {"size(y)", -999},
    {"size(y) * 0", 0},
    {"y[0] * 0 + y[1]", 7},
    {"size([])", 1},
    {"bytes(a)", 12},
    {"bytes(l)", 42},
    {"bytes(z)", 0},
    {"count(l)", 2},
    {"count(z)", 0},
    {"present(b) && !present(z)", 1},
    {"min(3, n) + max(3, n)", 5},
    {"a == [2, 3]", 1},
    {"a == [2, 4]", 0},
    {"a == b", 0},
    {"y == [5, 7]", -999},
    {"y == [5, 6]", 0},
    {"strided(a, [0, 1], [2, 3], [], 0, 0, 0, 0, 0) == [2, 2]", 1},
    {"strided(a, [-1, -1], [0, -4], [-1, -2], 0, 0, 0, 0, 0) == [1, 2]", 1},
    {"strided(a, [1], [0], [], 1, 1, 0, 0, 0) == a", 1},
    {"strided(a, [1, 9], [0, 9], [], 0, 0, 0, 2, 1) == [1, 3]", 1},
    {"strided(a, [9, 1], [9, 2], [], 0, 0, 1, 0, 0) == [2, 1]", 1},
    {"strided(y, [0, 1], [9, 2], [], 1, 1, 0, 0, 0)[1]", 1},
    {"rank(strided(a, [0, 0, 0], [1, 1, 1], [], 0, 0, 0, 0, 0))", -999},
    {"rank(strided(a, [0], [1, 1], [], 0, 0, 0, 0, 0))", -999},
    {"rank(strided(a, [0], [1], [0], 0, 0, 0, 0, 0))", -999},
    {"rank(strided(a, [2], [1], [], 0, 0, 0, 0, 1))", -999},
    {"size(a + [1, 1])", 12},
    {"size(a + [1])", -999},
    {"size(a - a)", 0},
    {"size([..a, ..b])", 24},
    {"rank([..a, ..b, 1])", 4},
    {"size(ones(3))", 1},
    {"rank(ones(3))", 3},
    {"rank(ones(-1))", -999},
    {"rank(ones(1000000))", -999},
    {"size(broadcast(a, [4, 1, 1], [3]))", 24},
    {"size(broadcast(a, b))", -999},
    {"broadcast(y, [9, 1])[0]", 9},
    {"broadcast(y, [1, 1])[0]", -999},
    {"concat(l, 0) == [7, 3]", 1},
    {"concat(l, -2) == [7, 3]", 1},
    {"rank(concat(l, 1))", -999},
    {"rank(concat(z, 1))", -999},
    {"reduce(a, [1], false) == [2]", 1},
    {"reduce(a, [-1], true) == [2, 1]", 1},
    {"rank(reduce(a, list, true))", -999},
    {"has(a, [0, -1])", 1},
    {"has(a, list)", -999},
    {"reduce(a, [], false) == a", 1},
    {"rank(reduce(a, [0, 1], false))", 0},
    {"rank(reduce(a, [2], false))", -999},
    {"permute(a, [1, 0]) == [3, 2]", 1},
    {"permute(a, [-1, 0]) == [3, 2]", 1},
    {"rank(permute(a, [1, 1]))", -999},
    {"rank(permute(a, [0]))", -999},
    {"slice(a, 0, 1) == [2]", 1},
    {"slice(a, -1, 9) == [3]", 1},
    {"rank(slice(a, 2, 1))", 0},
    {"every([4, 5, 6, 7, 8], 0, 2) == [4, 6, 8]", 1},
    {"every([4, 5, 6, 7], 1, 2) == [5, 7]", 1},
    {"every([4, 5, 6], -1, 1) == [6]", 1},
    {"rank(every(a, 2, 1))", 0},
    {"rank(every(a, 0, 9223372036854775807))", 1},
    {"rank(every(a, 0, rank(a) - 2))", -999},
    {"replace(a, 0, 9) == [9, 3]", 1},
    {"rank(replace(a, 2, 9))", -999},
    {"insert(a, 0, 9) == [9, 2, 3]", 1},
    {"insert(a, -1, 9) == [2, 3, 9]", 1},
    {"rank(insert(a, 3, 9))", -999},
    {"squeeze([1, 2, 1], []) == [2]", 1},
    {"squeeze([1, 2, 1], [0]) == [2, 1]", 1},
    {"rank(squeeze([1, 2, 1], [1]))", -999},
    {"rank(squeeze(y, []))", -999},
    {"unsqueeze(a, [0, -1]) == [1, 2, 3, 1]", 1},
    {"rank(unsqueeze(a, [0, 0]))", -999},
    {"reshape(a, [-1]) == [6]", 1},
    {"reshape(a, [0, -1, 1]) == [2, 3, 1]", 1},
    {"reshape(a, [3, 2]) == [3, 2]", 1},
    {"rank(reshape(a, [4]))", -999},
    {"rank(reshape(a, [-1, -1]))", -999},
    {"rank(reshape(a, [-2, -3]))", -999},
    {"rank(reshape(a, [4, -1]))", -999},
    {"reshape(y, [7, -1])[1]", -999},
};

static void test_numbers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        struct trial trial;
        struct tensors tensors;
        struct op_fault fault;
        int64_t number = -999;
        if (!trial_open(&trial, "", numbers[i].text))
            fail_msg("%s", trial.error);
        read_tensors(trial.type, "a 2 3; b 4; l 2 3; l 5 3", &tensors);
        /* The result, which the four tensors leave no room for, stands in place of b's list. */
        if (strchr(numbers[i].text, 'y') && !strstr(numbers[i].text, "bytes"))
            read_tensors(trial.type, "a 2 3; b 4; y ? 7", &tensors);
        struct op_call call = call_of(&trial, &tensors);
        if (!op_shapes_number(&call, &trial.type->flops, &number, &fault))
            assert_int_equal(number, -999);
        if (number != numbers[i].number)
            fail_msg("%s is %lld, not %lld", numbers[i].text, (long long)number,
                     (long long)numbers[i].number);
        trial_close(&trial);
    }
}

/* ------------------------------------------------------------------------------- rules ---- */

/* What is said of tensors, NULL where they are right. */
static const struct {
    const char *rules, *tensors, *error;
} rules[] = {
    {"\"a = [..r, k]\", \"y = r\"", "a 2 3; y 2", NULL},
    {"\"a = [..r, k]\", \"y = r\"", "a 3; y", NULL},
    {"\"a = [..r, k]\", \"y = r\"", "a 2 3; y 3",
     "result 'y' of T is [3], but by 'y = r' it is [2]"},
    {"\"a = [..r, k]\"", "a", "operand 'a' [] of T does not fit 'a = [..r, k]'"},
    {"\"a = [k, k]\"", "a 2 2", NULL},
    {"\"a = [k, k]\"", "a 2 ?", NULL},
    {"\"a = [k, k]\"", "a 2 3", "operand 'a' [2, 3] of T has k = 3, but 'a' [2, 3] has k = 2"},
    {"\"a = [k, 4]\"", "a 2 4", NULL},
    {"\"a = [k, 4]\"", "a 2 5", "operand 'a' [2, 5] of T does not fit 'a = [k, 4]'"},
    {"\"a = [k]\", \"b = [k]\"", "a 2; b 2", NULL},
    {"\"a = [k]\", \"b = [k]\"", "a 2", NULL},
    {"\"b = [k]\", \"y = [k]\"", "a 2; y 9", NULL},
    {"\"a = [k]\", \"b = [k]\"", "a 2; b 3",
     "operand 'b' [3] of T has k = 3, but 'a' [2] has k = 2"},
    {"\"a = [k]\", \"b = [k]\", \"y = [k]\"", "a ?; b 3; y 4",
     "result 'y' of T is [4], but by 'y = [k]' it is [3]"},
    {"\"l = [..s]\", \"y = s\"", "l 2 3; l 2 3; y 2 3", NULL},
    {"\"l = [..s]\"", "l 2 3; l 2",
     "operand 'l' [2] of T does not fit 'l = [..s]', where s = [2, 3]"},
    {"\"a = [..r, ..b]\"", "a 2 3; b 3", NULL},
    {"\"a = [..r, ..b]\"", "a 2 3; b 2", "operand 'a' [2, 3] of T does not fit 'a = [..r, ..b]'"},
    {"\"a = [..r, ..b]\"", "a 3; b 2 3", "operand 'a' [3] of T does not fit 'a = [..r, ..b]'"},
    {"\"a = flag ? [k] : [k, 1]\"", "a 2 1", NULL},
    {"\"z = a\"", "a 2; z 2; z 3", "result 'z' of T is [3], but by 'z = a' it is [2]"},
    {"\"a[0] % 2 == 0\"", "a 4", NULL},
    {"\"a[0] % 2 == 0\"", "a ?", NULL},
    {"\"a[0] % 2 == 0\"", "a 3", "T has 'a[0] % 2 == 0', but 'a[0]' is 3"},
    {"\"a[0] % 2 == 0\"", "a", "T has no dimension 0 of 0, of which 'a[0] % 2 == 0' speaks"},
    {"\"y = broadcast(a, b)\"", "a 2 3; b 2", "T cannot broadcast [2, 3] and [2] to one shape"},
    {"\"y = concat(l, 0)\"", "l 2 3; l 2 4; y 4 3",
     "T cannot join [2, 3] and [2, 4] along dimension 0"},
    {"\"y = a * 9223372036854775807\"", "a 2; y ?",
     "the shape is too large: numbers of 'y = a * 9223372036854775807', which T has, pass 64 bits"},
    {"\"y = a - 3\"", "a 2 5; y ? ?", "'y' of T would be [-1, 2] by 'y = a - 3'"},
    {"\"y = ones(a[0])\"", "a 1000000000; y ?",
     "a list has more than 256 elements, by which T has 'y = ones(a[0])'"},
    {"\"y = ones(-a[0])\"", "a 1; y ?",
     "a list has no negative number of elements, by which T has 'y = ones(-a[0])'"},
    {"\"a > [1]\"", "a 1 2", "T has 'a > [1]', but [1, 2] and [1] differ in length"},
    {"\"a > 1\"", "a 1 2", "T has 'a > 1', which does not hold for [1, 2] and 1"},
    {"\"a > 1 || false\"", "a 1 2", "T has 'a > 1 || false', which does not hold"},
    {"\"has(a, m)\"", "a 1 2", "T has no dimension 3 of 2, of which 'has(a, m)' speaks"},
    {"\"text == 'two'\"", "a 1", "T has 'text == 'two'', which does not hold for 'one' and 'two'"},
    {"\"z = [a[nth(z)]]\"", "a 2 5; z 2; z 5", NULL},
    {"\"z = [a[nth(z)]]\"", "a 2 5; z 2; z 2",
     "result 'z' of T is [2], but by 'z = [a[nth(z)]]' it is [5]"},
    {"\"z = [a[nth(z)]]\"", "a 2; z 2; z 2",
     "T has no dimension 1 of 1, of which 'z = [a[nth(z)]]' speaks"},
    {"\"y = reshape(a, [-1, 4])\"", "a 6; y 1 4",
     "a shape has no such number of elements, by which T has 'y = reshape(a, [-1, 4])'"},
};

static void test_rules(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        struct trial trial;
        struct tensors tensors;
        struct op_fault fault;
        assert_true(trial_open(&trial, rules[i].rules, "0"));
        read_tensors(trial.type, rules[i].tensors, &tensors);
        struct op_call call = call_of(&trial, &tensors);
        bool ok = op_shapes_check(&call, &fault);
        if (rules[i].error ? ok : !ok)
            fail_msg("%s of %s: %s", rules[i].rules, rules[i].tensors, ok ? "ok" : fault.text);
        if (!ok) {
            assert_string_equal(fault.text, rules[i].error);
            assert_true(fault.tensor < tensors.count || strstr(rules[i].rules, "text"));
            assert_true(fault.other == NONE || fault.other < tensors.count);
        }
        trial_close(&trial);
    }
}

/* What follows for the first tensor whose rank is not known, a result. */
static bool infer(const struct op_call *call, struct module *module, int64_t *dims, uint32_t *rank)
{
    struct arena arena = {NULL, 0};
    struct op_shape shapes[MAX_TENSORS];
    struct op_fault fault;
    uint32_t at = 0;
    while (at < call->n_tensors && call->tensors[at].slot < call->type->n_operands)
        at++;
    bool ok = op_shapes_infer(call, module, &arena, shapes, &fault) && at < call->n_tensors &&
              shapes[at].rank != RANK_UNKNOWN;
    *rank = ok ? shapes[at].rank : 0;
    if (*rank)
        memcpy(dims, shapes[at].dims, *rank * sizeof *dims);
    arena_free(&arena);
    return ok;
}

static void check_inferred(const char *rule_list, const char *given, const char *expected)
{
    struct trial trial;
    struct tensors tensors, wanted;
    int64_t dims[MAX_RANK];
    uint32_t rank;
    char text[100];
    assert_true(trial_open(&trial, rule_list, "0"));
    snprintf(text, sizeof text, "%s; y .", given);
    read_tensors(trial.type, text, &tensors);
    struct op_call call = call_of(&trial, &tensors);
    assert_int_equal(infer(&call, NULL, dims, &rank), expected != NULL);
    if (expected) {
        read_tensors(trial.type, expected, &wanted);
        assert_int_equal(rank, wanted.at[0].rank);
        assert_memory_equal(dims, wanted.dims[0], rank * sizeof dims[0]);
    }
    trial_close(&trial);
}

static void test_inferred(void **state)
{
    (void)state;
    check_inferred("\"a = [..r, k]\", \"b = [k, c]\", \"y = [..r, c]\"", "a 5 2 3; b 3 7",
                   "y 5 2 7");
    check_inferred("\"y = broadcast(a, b)\"", "a 2 1; b ? 4", "y 2 4");
    check_inferred("\"y = broadcast(a, b)\"", "a ? 1; b 1 4", "y ? 4");
    check_inferred("\"y = concat(l, 0)\"", "l 2 3; l ? 3", "y ? 3");
    check_inferred("\"y = b\"", "a 2", NULL);
    check_inferred("\"l = [..s]\", \"y = insert(s, 0, count(l))\"", "l 3; l ..", "y 2 3");
    check_inferred("\"l = [..s]\", \"y = insert(s, 0, count(l))\"", "l ..; l ..", NULL);
    check_inferred("\"y = concat(l, 0)\"", "l 2 3; l ..", NULL);
    check_inferred("\"y = broadcast(a, b)\"", "a ..; b 4", NULL);
    check_inferred("\"size(a) == 2\"", "a 2", NULL);
    check_inferred("\"a = [k, k]\", \"y = [k]\"", "a 2 3", NULL);
}

/* ----------------------------------------------------------------------------- symbols ---- */

/* A dimension as types of a module have it: the sum of its products, "2*b*s+c". */
static int64_t dim_of_text(struct module *module, const char *text)
{
    struct dim_sum sum = {.count = 0};
    while (*text) {
        struct dim_term term = dim_one;
        for (; *text && *text != '+'; text += *text == '*') {
            char name[2] = {*text++, '\0'};
            if (name[0] >= '0' && name[0] <= '9')
                assert_int_equal(dim_term_multiply(&term, name[0] - '0'), DIM_FINE);
            else
                assert_int_equal(dim_term_multiply_name(&term, module, module_name(module, name)),
                                 DIM_FINE);
        }
        assert_int_equal(dim_sum_add(&sum, module, &term), DIM_FINE);
        text += *text == '+';
    }
    return dim_of_sum(module, &sum);
}

/* What a rule makes of a = [2*b*s + b, b, s, 4]; "?": nothing is known of it. */
static const struct {
    const char *rule, *dim;
} symbols[] = {
    {"y = [a[0]]", "2*b*s+b"},
    {"y = [a[0] + a[1]]", "2*b*s+2*b"},
    {"y = [a[1] + a[2] - a[1]]", "s"},
    {"y = [a[0] - a[1]]", "2*b*s"},
    {"y = [a[0] - a[0]]", "0"},
    {"y = [a[1] - a[0]]", "?"},
    {"y = [a[1] - 1]", "?"},
    {"y = [a[1] * a[2] * 3]", "3*b*s"},
    {"y = [a[0] / a[1]]", "2*s+1"},
    {"y = [a[0] / a[2]]", "?"},
    {"y = [a[0] / a[0]]", "1"},
    {"y = [a[1] * 6 / 3]", "2*b"},
    {"y = [a[1] * 6 / 4]", "?"},
    {"y = [a[1] * 6 % 3 + 5]", "5"},
    {"y = [a[1] % 2]", "?"},
    {"y = [a[0] / (a[1] + a[2])]", "?"},
    {"y = [size(a) / a[3] / a[2] / a[1]]", "2*b*s+b"},
    {"y = [min(a[1], a[1])]", "b"},
    {"y = [max(a[1], a[2])]", "?"},
    {"y = [a[1] == a[1] ? 7 : 8]", "7"},
    {"y = [a[1] < a[1] ? 7 : 8]", "8"},
    {"y = [a[1] == a[2] ? 7 : 8]", "?"},
    {"y = [a + a == a * 2 ? 7 : 8]", "7"},
    {"y = slice(broadcast(a, [1]), 1, 2)", "b"},
    {"y = slice(broadcast(a, a), 2, 3)", "s"},
    {"y = slice(broadcast(a, [9, 1, 1, 1]), 0, 1)", "9"},
    {"y = slice(reshape(a, [-1, 4]), 0, 1)", "2*b*b*s*s+b*b*s"},
    {"y = slice(reshape([a[1], a[2], 8], [-1, 4]), 0, 1)", "2*b*s"},
    {"y = slice(reshape([a[1], 3], [-1, 2]), 0, 1)", "?"},
    {"y = [sum([a[1], a[1], 1])]", "2*b+1"},
};

/* Sums, differences, products and quotients that are sums of products are known. */
static void test_symbols(void **state)
{
    (void)state;
    struct module *module = module_new(NULL);
    for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
        struct trial trial;
        struct tensors tensors;
        char rule_list[200];
        int64_t dims[MAX_RANK];
        uint32_t rank;
        snprintf(rule_list, sizeof rule_list, "\"%s\"", symbols[i].rule);
        assert_true(trial_open(&trial, rule_list, "0"));
        read_tensors(trial.type, "a 0 0 0 4; y .", &tensors);
        tensors.dims[0][0] = dim_of_text(module, "2*b*s+b");
        tensors.dims[0][1] = dim_of_text(module, "b");
        tensors.dims[0][2] = dim_of_text(module, "s");
        struct op_call call = call_of(&trial, &tensors);
        call.module = module;
        bool known = infer(&call, module, dims, &rank);
        const char *wanted = symbols[i].dim;
        int64_t dim = *wanted == '?' ? DIM_UNKNOWN : dim_of_text(module, wanted);
        if (!known || rank != 1 || dims[0] != dim)
            fail_msg("%s is not %s", symbols[i].rule, wanted);
        trial_close(&trial);
    }
    module_free(module);
}

/* ------------------------------------------------------------------------ properties ---- */

static const char *const words[] = {
    "a",          "b",        "l",          "y",        "z",      "n",
    "m",          "flag",     "list",       "text",     "k",      "r",
    "..",         "[",        "]",          "(",        ")",      ",",
    "=",          "==",       "!=",         "<",        "<=",     ">",
    ">=",         "+",        "-",          "*",        "/",      "%",
    "?",          ":",        "!",          "&&",       "||",     "0",
    "1",          "2",        "-1",         "9",        "rank(",  "size(",
    "bytes(",     "count(",   "present(",   "ones(",    "min(",   "max(",
    "broadcast(", "concat(",  "reduce(",    "permute(", "slice(", "replace(",
    "insert(",    "squeeze(", "unsqueeze(", "reshape(", "'one'",  "9223372036854775807",
    "contents(",  "lengths(", "strided(",   "element",
};

/* Expressions: N is any number, L any list. Where the text is long, only the leaves. */
static const char *const number_leaves[] = {
    "n", "m", "flag", "k", "0", "1", "-1", "rank(a)", "count(l)", "bytes(a)", "present(b)"};
static const char *const number_forms[] = {
    "(N + N)",  "(N - N)",   "(N * N)",   "(N / N)",  "(N % N)",  "L[N]",     "(N ? N : N)",
    "(N == N)", "(L == L)",  "(L < N)",   "(N <= N)", "(N && N)", "(N || N)", "!N",
    "-N",       "min(N, N)", "max(N, N)", "rank(L)",  "size(L)",  "sum(L)",   "has(L, N)"};
static const char *const list_leaves[] = {"a", "b",      "l",  "y",       "list",
                                          "r", "[2, 3]", "[]", "[..a, 1]"};
static const char *const list_forms[] = {"[N, N]",
                                         "[N, ..L]",
                                         "(L + L)",
                                         "(L * N)",
                                         "(N ? L : L)",
                                         "broadcast(L, L)",
                                         "slice(L, N, N)",
                                         "every(L, N, N)",
                                         "replace(L, N, N)",
                                         "insert(L, N, N)",
                                         "squeeze(L, L)",
                                         "unsqueeze(L, L)",
                                         "reshape(L, L)",
                                         "permute(L, L)",
                                         "reduce(L, L, N)",
                                         "ones(N)",
                                         "fill(L, N)",
                                         "fill(L, L)",
                                         "concat(l, N)",
                                         "lengths(l, N)",
                                         "-L",
                                         "strided(L, L, L, L, N, N, N, N, N)"};

/* What rules of contents may say besides. */
static const char *const element_leaves[] = {"element", "place", "before", "sum", "contents(b)[0]"};

#define PICK(random, list) (list)[random_below(random, sizeof(list) / sizeof *(list))]

struct writing {
    struct random *random;
    struct text *text;
    bool contents, elements; /* of a rule of contents; of one of single elements */
};

static const char *choose(const struct writing *writing, bool list, unsigned depth)
{
    bool leaf = depth == 0 || writing->text->size > 500;
    if (list && writing->contents && random_below(writing->random, 6) == 0)
        return "contents(b)";
    if (!list && writing->elements && random_below(writing->random, 4) == 0)
        return PICK(writing->random, element_leaves);
    if (list)
        return leaf ? PICK(writing->random, list_leaves) : PICK(writing->random, list_forms);
    return leaf ? PICK(writing->random, number_leaves) : PICK(writing->random, number_forms);
}

/* A value of the grammar whose parts fit their places, in `depth` levels at most. */
static void put_value(const struct writing *writing, bool list, unsigned depth)
{
    for (const char *at = choose(writing, list, depth); *at; at++)
        if (*at == 'N' || *at == 'L')
            put_value(writing, *at == 'L', depth - 1);
        else
            text_char(writing->text, *at);
}

/* Words in any order, most of which are no rule. */
static void put_words(struct random *random, struct text *text)
{
    for (unsigned n = 1 + random_below(random, 12); n > 0; n--)
        text_printf(text, "%s ", PICK(random, words));
}

static void random_tensors(struct random *random, const struct op_type *type,
                           struct tensors *tensors)
{
    static const int64_t sizes[] = {0, 1, 2, 3, 4, DIM_UNKNOWN, INT64_C(1) << 40, DIM_GEAR + 9};
    tensors->count = 1 + random_below(random, MAX_TENSORS);
    for (uint32_t i = 0; i < tensors->count; i++) {
        uint32_t slot = i == 0 ? 0 : random_below(random, type->n_operands + type->n_results);
        tensors->at[i] = (struct op_tensor){
            .slot = slot, .dims = tensors->dims[i], .bits = 4, .rank = random_below(random, 5)};
        for (uint32_t j = 0; j < tensors->at[i].rank; j++)
            tensors->dims[i][j] = sizes[random_below(random, 8)];
    }
}

/* Makes the second tensor b, a vector of a few numbers. */
static void give_b(struct random *random, const struct op_type *type, struct tensors *tensors)
{
    tensors->count = tensors->count < 2 ? 2 : tensors->count;
    tensors->at[1] = (struct op_tensor){
        .slot = slot_of(type, 'b'), .dims = tensors->dims[1], .bits = 64, .rank = 1};
    tensors->dims[1][0] = random_below(random, 5);
}

/* What stands in b where it is such a vector. */
static bool contents_of(const struct op_call *call, uint32_t tensor, struct arena *arena,
                        struct op_contents *contents)
{
    static const int64_t numbers[] = {1, -1, 0, 2};
    (void)arena;
    const struct op_tensor *b = &call->tensors[tensor];
    if (strcmp(call->type->slots[b->slot].name, "b") != 0 || b->rank != 1 || b->dims[0] < 0 ||
        b->dims[0] > 4)
        return false;
    *contents = (struct op_contents){numbers, (uint64_t)b->dims[0]};
    return true;
}

/* Whatever is asked of a rule, answers come, and of a right op with a dimension that is no longer
 * known it cannot be said that it is wrong. */
static void ask(const struct op_type *type, const struct op_call *call)
{
    struct op_fault fault;
    struct op_range_fault range;
    int64_t number, dims[MAX_RANK];
    uint32_t rank;
    bool ok = op_shapes_check(call, &fault);
    assert_true(ok || (fault.text[0] && strlen(fault.text) < sizeof fault.text));
    assert_true(ok || fault.tensor == NONE || fault.tensor < call->n_tensors);
    op_shapes_number(call, &type->flops, &number, &fault);
    infer(call, NULL, dims, &rank);
    if (call->contents && !op_ranges_check(call, &range))
        assert_true(range.text[0] && range.tensor < call->n_tensors);
}

/* Whether the rule can be read. `values`: it is one of what stands in b. */
static bool try_rule(struct random *random, const char *text, bool values)
{
    struct trial trial;
    struct tensors tensors;
    char rules[MAX_TRIAL_RULE + 40], contents[MAX_TRIAL_RULE + 40];
    snprintf(rules, sizeof rules, values ? "\"a = [..r, k]\"" : "\"a = [..r, k]\", \"%s\"", text);
    contents[0] = '\0';
    if (values)
        snprintf(contents, sizeof contents, "\"b\": \"%s\"", text);
    bool read = trial_open_values(&trial, rules, contents, "size(a)");
    if (read) {
        random_tensors(random, trial.type, &tensors);
        if (values)
            give_b(random, trial.type, &tensors);
        struct op_call call = call_of(&trial, &tensors);
        call.contents = contents_of;
        ask(trial.type, &call);
    } else {
        assert_true(trial.error[0]);
    }
    trial_close(&trial);
    return read;
}

static unsigned trials(void)
{
    const char *count = getenv("SKIR_TEST_COUNT");
    return (count ? (unsigned)strtoul(count, NULL, 10) : 1000) * 10;
}

static void test_random_words(void **state)
{
    (void)state;
    struct random random = {20260101};
    for (unsigned i = 0; i < trials() / 2; i++) {
        struct text text = {NULL, 0, 0};
        text_string(&text, i % 2 ? "y = " : "");
        put_words(&random, &text);
        text_char(&text, '\0');
        try_rule(&random, text.at, false);
        text_free(&text);
    }
}

/* A rule of shapes, or of contents: for all of an operand, or each element. */
static void put_rule(const struct writing *writing)
{
    bool shape = !writing->elements && random_below(writing->random, 2);
    bool range = writing->contents && !shape && random_below(writing->random, 2);
    text_string(writing->text, shape ? "y = " : "");
    put_value(writing, shape, 4);
    if (range) {
        text_string(writing->text, " .. ");
        put_value(writing, false, 3);
    }
}

/* Of rules whose parts fit only few are refused: those with constants that cannot be. */
static void test_random_rules(void **state)
{
    (void)state;
    struct random random = {20260102};
    unsigned read = 0;
    for (unsigned i = 0; i < trials(); i++) {
        struct text text = {NULL, 0, 0};
        struct writing writing = {&random, &text, i % 3 > 0, i % 3 == 2};
        put_rule(&writing);
        text_char(&text, '\0');
        read += try_rule(&random, text.at, writing.contents);
        text_free(&text);
    }
    print_message("%u of %u rules are read\n", read, trials());
    assert_true(read >= trials() / 10 * 9);
}

/* broadcast, concat and reduce of random shapes, against plain loops. */
static void test_random_shapes(void **state)
{
    (void)state;
    struct random random = {7};
    struct trial trial;
    assert_true(trial_open(&trial, "\"y = broadcast(a, b)\"", "0"));
    for (unsigned i = 0; i < trials(); i++) {
        struct tensors tensors = {.count = 3};
        uint32_t ranks[2] = {random_below(&random, 4), random_below(&random, 4)};
        uint32_t rank = ranks[0] > ranks[1] ? ranks[0] : ranks[1];
        bool possible = true;
        for (uint32_t t = 0; t < 3; t++)
            tensors.at[t] = (struct op_tensor){.slot = t == 2 ? slot_of(trial.type, 'y') : t,
                                               .rank = t == 2 ? rank : ranks[t],
                                               .dims = tensors.dims[t]};
        for (uint32_t back = 1; back <= rank; back++) {
            int64_t size[2] = {1, 1};
            for (uint32_t t = 0; t < 2; t++)
                if (back <= ranks[t])
                    size[t] = tensors.dims[t][ranks[t] - back] = random_below(&random, 3);
            possible &= size[0] == size[1] || size[0] == 1 || size[1] == 1;
            tensors.dims[2][rank - back] = size[0] == 1 ? size[1] : size[0];
        }
        struct op_call call = call_of(&trial, &tensors);
        struct op_fault fault;
        assert_int_equal(op_shapes_check(&call, &fault), possible);
        if (rank == 0 || !possible)
            continue;
        tensors.dims[2][random_below(&random, rank)] += 1;
        assert_false(op_shapes_check(&call, &fault));
        for (uint32_t j = 0; j < rank; j++)
            tensors.dims[2][j] = DIM_UNKNOWN;
        assert_true(op_shapes_check(&call, &fault));
    }
    trial_close(&trial);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_malformed),    cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_rules),        cmocka_unit_test(test_inferred),
        cmocka_unit_test(test_symbols),      cmocka_unit_test(test_random_words),
        cmocka_unit_test(test_random_rules), cmocka_unit_test(test_random_shapes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
