/* The data of op types: all of it is read, what is wrong is refused, and look-ups find it. */
#include "ir/core/calls.h"
#include "ir/optypes/op_types.h"
#include "ir/support/file_fault.h"
#include "ir/support/text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const struct op_type *find(struct op_types *types, const char *name)
{
    return op_types_find(types, name, strlen(name));
}

static bool add(struct op_types *types, const char *json, char *error, size_t size)
{
    struct file_fault fault = {.path = NULL};
    bool ok = op_types_add(types, "lib/own.ops.json", json, strlen(json), &fault);
    file_fault_line(&fault, error, size);
    return ok;
}

/* Reading asserts that it is right. */
static void test_all_data(void **state)
{
    (void)state;
    struct op_types *types = op_types_new();
    uint32_t count = 0;
    for (const struct op_type *type; (type = op_types_at(types, count)); count++) {
        assert_ptr_equal(type, find(types, type->name));
        assert_true(*type->about);
        assert_true(*type->family);
    }
    assert_true(count > 100);
    assert_null(find(types, "NoSuchType"));
    assert_null(find(types, "Ad"));
    op_types_free(types);
}

static void test_slots(void **state)
{
    (void)state;
    struct op_types *types = op_types_new();
    const struct op_type *fias = find(types, "FusedInferAttentionScore");
    assert_int_equal(fias->slots[0].presence, OP_REQUIRED);
    assert_int_equal(fias->slots[1].presence, OP_LISTED);
    assert_int_equal(fias->slots[3].presence, OP_OPTIONAL);
    assert_int_equal(op_type_operand(fias, "atten_mask", 10), 4);
    assert_int_equal(op_type_operand(fias, "atten", 5), NONE);
    assert_string_equal(fias->slots[fias->n_operands + 1].name, "softmax_lse");
    const struct op_type *add_type = find(types, "Add");
    assert_int_equal(add_type->slots[1].like, 0);
    assert_int_equal(add_type->slots[1].dtypes, 0);
    assert_true(add_type->slots[0].dtypes >> DTYPE_f32 & 1);
    assert_false(add_type->slots[0].dtypes >> DTYPE_i4 & 1);
    op_types_free(types);
}

static void test_memory(void **state)
{
    (void)state;
    struct op_types *types = op_types_new();
    const struct op_type *assign = find(types, "Assign"), *view = find(types, "Reshape");
    assert_int_equal(assign->slots[2].alias, 0);
    assert_true(assign->slots[0].writes && !assign->slots[0].reads);
    assert_true(!assign->slots[1].writes && assign->slots[1].reads);
    assert_true(view->view && !view->slots[0].reads && !view->slots[0].writes);
    assert_int_equal(view->slots[view->n_operands].alias, 0);
    assert_true(find(types, "Const")->passive);
    assert_false(find(types, "Add")->passive);
    op_types_free(types);
}

static void test_graphs(void **state)
{
    (void)state;
    struct op_types *types = op_types_new();
    const struct op_type *branch = find(types, "Case"), *loop = find(types, "While"),
                         *count = find(types, "For");
    assert_int_equal(branch->n_graphs, 1);
    assert_string_equal(branch->graphs[0].attr, "branches");
    assert_true(branch->graphs[0].listed && !branch->graphs[0].decides);
    assert_int_equal(branch->graphs[0].params[0], 1);
    assert_int_equal(branch->graphs[0].results[0], 2);
    assert_true(loop->graphs[0].decides && !loop->graphs[1].decides);
    assert_int_equal(count->graphs[0].n_params, 2);
    assert_int_equal(count->graphs[0].params[1], 3);
    op_types_free(types);
}

/* What an op writes without labels, by places. */
static bool roles_agree(const struct call_attr *row, const struct op_graph *graph)
{
    return row->list == graph->listed && (row->role == ROLE_CONDITION) == graph->decides;
}

/* What the data say of graphs that are called is what ir/core/call_ops.def says. */
static void check_call(struct op_types *types, const struct module *module, uint32_t name,
                       enum call_kind kind)
{
    const struct op_type *type =
        op_types_find(types, module->names.names[name].text, module->names.names[name].size);
    uint32_t n = 0;
    assert_non_null(type);
    for (uint32_t i = 0; i < n_call_attrs; i++) {
        if (call_attrs[i].kind != kind)
            continue;
        assert_true(n < type->n_graphs);
        assert_true(name_is(module, call_attrs[i].key, type->graphs[n].attr));
        assert_true(roles_agree(&call_attrs[i], &type->graphs[n]));
        assert_int_equal(type->graphs[n].n_params, call_info(kind)->own + 1);
        n++;
    }
    assert_int_equal(n, type->n_graphs);
    assert_int_equal(type->n_operands, call_info(kind)->lead + 1);
}

static void test_calls(void **state)
{
    (void)state;
    struct op_types *types = op_types_new();
    struct module *module = module_new(NULL);
#define CALL_OP(type, kind) check_call(types, module, W_##type, CALL_##kind);
#include "ir/core/call_ops.def"
    module_free(module);
    op_types_free(types);
}

static void test_places(void **state)
{
    (void)state;
    struct op_types *types = op_types_new();
    const struct op_type *branch = find(types, "If"), *sum = find(types, "Add"),
                         *constant = find(types, "Const"), *send = find(types, "HcomSend");
    assert_int_equal(op_type_place(branch, 0), 0);
    assert_int_equal(op_type_place(branch, 5), 1);
    assert_int_equal(op_type_result(branch, 5), 2);
    assert_int_equal(op_type_place(sum, 1), 1);
    assert_int_equal(op_type_place(sum, 2), NONE);
    assert_int_equal(op_type_result(sum, 0), 2);
    assert_int_equal(op_type_result(sum, 1), NONE);
    assert_int_equal(op_type_place(constant, 0), NONE);
    assert_int_equal(op_type_result(send, 0), NONE);
    op_types_free(types);
}

static void test_names_of_modules(void **state)
{
    (void)state;
    struct module *module = module_new(NULL);
    uint32_t add_name = module_name(module, "Add"), other = module_name(module, "Own");
    char error[200];
    assert_string_equal(op_type_find(module, add_name)->name, "Add");
    assert_null(op_type_find(module, other));
    assert_ptr_equal(op_type_find(module, add_name), op_type_find(module, add_name));
    uint32_t late = module_name(module, "Mul");
    assert_string_equal(op_type_find(module, late)->name, "Mul");
    assert_true(add(op_types_of(module), "{\"Own\": {\"operands\": [], \"results\": [\"y\"]}}",
                    error, sizeof error));
    assert_string_equal(op_type_find(module, other)->family, "own");
    module_free(module);
}

static void test_private_types(void **state)
{
    (void)state;
    static const char own[] = "{\"Own\": {\"operands\": [\"a\", \"b?\"], \"results\": [\"y\"]}}";
    static const char other[] = "{\"Own\": {\"operands\": [\"a\", \"b\"], \"results\": [\"y\"]}}";
    static const char known[] = "{\"Data\": {\"operands\": [], \"results\": []}}";
    struct op_types *types = op_types_new();
    char error[200];
    assert_true(add(types, own, error, sizeof error));
    assert_int_equal(find(types, "Own")->slots[1].presence, OP_OPTIONAL);
    assert_true(add(types, own, error, sizeof error)); /* the same again is no contradiction */
    assert_false(add(types, other, error, sizeof error));
    assert_string_equal(error,
                        "lib/own.ops.json:1:2: op type 'Own' is another one than that of 'own'");
    assert_false(add(types, known, error, sizeof error));
    assert_string_equal(error,
                        "lib/own.ops.json:1:2: op type 'Data' is another one than that of 'data'");
    op_types_free(types);
}

static void test_other_names(void **state)
{
    (void)state;
    struct module *module = module_new(NULL);
    struct op_types *types = op_types_of(module);
    const struct op_type *silu = find(types, "Silu"), *swish = find(types, "Swish");
    char error[200];
    assert_string_equal(silu->name, "Silu");
    assert_string_equal(silu->real, "Swish");
    assert_ptr_equal(swish->real, swish->name);
    assert_ptr_equal(silu->slots, swish->slots);
    uint32_t a = module_name(module, "Silu"), b = module_name(module, "Swish"),
             c = module_name(module, "Relu"), d = module_name(module, "Own");
    assert_true(op_type_agrees(module, a, b) && op_type_agrees(module, d, d));
    assert_false(op_type_agrees(module, a, c) || op_type_agrees(module, a, d));
    assert_true(add(types, "{\"Own\": {\"same\": \"Relu\"}}", error, sizeof error));
    assert_string_equal(find(types, "Own")->real, "Relu");
    assert_true(op_type_agrees(module, c, d));
    module_free(module);
}

/* The text of a type in place of %s, and what is said of it behind "lib/own.ops.json:". */
static const struct {
    const char *json, *error;
} malformed[] = {
    {"", "1:1: the text ends within a value of JSON"},
    {"{", "1:1: this '{' is not ended by '}'"},
    {"{} {}", "1:4: expected the end of the text here"},
    {"{\"T\": {\"about\": \"a\\u0000b\"}}", "1:19: a string cannot have a NUL"},
    {"{\"T\\u0000\": {}}", "1:4: a string cannot have a NUL"},
    {"{\"T\": {\"about\": \"\", \"\\u0061bout\": \"\"}}",
     "1:21: this object has the key \"about\" twice"},
    {"{\"T\": [1,]}", "1:10: ']' is unexpected here"},
    {"{\"T\": 01}", "1:7: this number is malformed"},
    {"{\"T\": \"\\ud800\"}", "1:8: this escape is none of JSON's"},
    {"{\"T\": \"\t\"}", "1:8: the byte 0x09 in a string must be escaped"},
    {"{\"T\": \"\xff\"}", "1:8: the byte 0xff is not UTF-8 here"},
    {"[]", "1:1: this is no object of op types"},
    {"{\"T\": 3}", "1:7: op type 'T': this is no object"},
    {"{\"T\": {}}", "1:7: op type 'T': 'operands' and 'results' are lists of names"},
    {"{\"T\": {\"operands\": \"x\", \"results\": []}}",
     "1:20: op type 'T': 'operands' and 'results' are lists of names"},
    {"{\"T\": {\"operands\": [1], \"results\": []}}",
     "1:20: op type 'T': 'operands' and 'results' are lists of names"},
    {"{\"T\": {\"operands\": [\"\"], \"results\": []}}", "1:21: op type 'T': '' is no name"},
    {"{\"T\": {\"operands\": [\"?\"], \"results\": []}}", "1:21: op type 'T': '?' is no name"},
    {"{\"T\": {\"operands\": [\"x?*\"], \"results\": []}}", "1:21: op type 'T': 'x?*' is no name"},
    {"{\"T\": {\"operands\": [\"x\", \"x?\"], \"results\": []}}",
     "1:26: op type 'T': 'x' stands twice"},
    {"{\"T\": {\"operands\": [], \"results\": [], \"operand\": []}}",
     "1:39: op type 'T': unknown key 'operand'"},
    {"{\"T\": {\"operands\": [], \"results\": [], \"results\": []}}",
     "1:39: this object has the key \"results\" twice"},
    {"{\"T\": {},\n \"T\": {}}", "2:2: this object has the key \"T\" twice"},
    {"{\"T\": {\"operands\": [\"x\"], \"results\": [\"y\"], \"dtypes\": {\"z\": \"f32\"}}}",
     "1:56: op type 'T': 'dtypes' has no operand or result 'z'"},
    {"{\"T\": {\"operands\": [\"x\"], \"results\": [\"y\"], \"dtypes\": []}}",
     "1:55: op type 'T': 'dtypes' is an object"},
    {"{\"T\": {\"operands\": [\"x\"], \"results\": [\"y\"], \"dtypes\": {\"x\": \"f31\"}}}",
     "1:61: op type 'T': 'f31' is no data type, and no operand or result before 'x'"},
    {"{\"T\": {\"operands\": [\"x\"], \"results\": [\"y\"], \"dtypes\": {\"x\": \"y\"}}}",
     "1:61: op type 'T': 'y' is no data type, and no operand or result before 'x'"},
    {"{\"T\": {\"operands\": [\"x\"], \"results\": [], \"dtypes\": {\"x\": \"\"}}}",
     "1:58: op type 'T': '' is no data type, and no operand or result before 'x'"},
    {"{\"T\": {\"operands\": [\"x\"], \"results\": [], \"dtypes\": {\"x\": \"f32 | \"}}}",
     "1:58: op type 'T': '' is no data type, and no operand or result before 'x'"},
    {"{\"T\": {\"operands\": [\"a\", \"b\", \"c\"], \"results\": [], "
     "\"dtypes\": {\"c\": \"a | b\"}}}",
     "1:68: op type 'T': 'c' can be like one other, not two"},
    {"{\"T\": {\"operands\": [\"x\"], \"results\": [\"y\"], \"alias\": {\"x\": \"y\"}}}",
     "1:55: op type 'T': 'alias' maps results to operands, not 'x' to 'y'"},
    {"{\"T\": {\"operands\": [\"x\"], \"results\": [\"y\"], "
     "\"attributes\": {\"n\": \"int\"}, \"dtype_by\": {\"x\": \"n\"}}}",
     "1:86: op type 'T': 'dtype_by' maps results to attributes of the kind int, not 'x' to 'n'"},
    {"{\"T\": {\"operands\": [\"x\"], \"results\": [\"y\"], "
     "\"attributes\": {\"n\": \"ints\"}, \"dtype_by\": {\"y\": \"n\"}}}",
     "1:87: op type 'T': 'dtype_by' maps results to attributes of the kind int, not 'y' to 'n'"},
    {"{\"T\": {\"operands\": [\"x\"], \"results\": [\"y\"], \"dtype_by\": {\"y\": 3}}}",
     "1:58: op type 'T': 'dtype_by' maps results to attributes of the kind int, not 'y' to ''"},
    {"{\"T\": {\"operands\": [\"x\"], \"results\": [\"y\"], \"dtype_by\": 3}}",
     "1:57: op type 'T': 'dtype_by' is an object"},
    {"{\"T\": {\"operands\": [\"x*\"], \"results\": [\"y\"], \"alias\": {\"y\": \"x\"}}}",
     "1:56: op type 'T': 'alias' has a list: 'y' of 'x'"},
    {"{\"T\": {\"operands\": [\"x\"], \"results\": [], \"writes\": \"x\"}}",
     "1:52: op type 'T': 'writes' is a list of operands"},
    {"{\"T\": {\"operands\": [\"x\"], \"results\": [\"y\"], \"writes\": [\"y\"]}}",
     "1:56: op type 'T': 'writes' has no operand 'y'"},
    {"{\"T\": {\"operands\": [\"x\"], \"results\": [\"y\"], \"reads\": [\"y\"]}}",
     "1:55: op type 'T': 'reads' has no operand 'y'"},
    {"{\"T\": {\"operands\": [], \"results\": [], \"attributes\": {\"a\": \"integer\"}}}",
     "1:59: op type 'T': attribute 'a' has no kind such as \"int\" or \"int = 0\""},
    {"{\"T\": {\"operands\": [\"x\"], \"results\": [], "
     "\"attributes\": {\"a\": \"int = 99999999999999999999\"}}}",
     "1:62: op type 'T': attribute 'a' cannot be '99999999999999999999': that is no int"},
    {"{\"T\": {\"operands\": [\"x\"], \"results\": [], \"attributes\": {\"a\": \"int = \"}}}",
     "1:62: op type 'T': attribute 'a' cannot be '': that is no int"},
    {"{\"T\": {\"operands\": [\"x\"], \"results\": [], \"attributes\": {\"a\": \"int = 1.5\"}}}",
     "1:62: op type 'T': attribute 'a' cannot be '1.5': that is no int"},
    {"{\"T\": {\"operands\": [\"x\"], \"results\": [], \"attributes\": {\"a\": \"int = 1 2\"}}}",
     "1:62: op type 'T': attribute 'a' cannot be '1 2': that is no int"},
    {"{\"T\": {\"operands\": [\"x\"], \"results\": [], \"attributes\": {\"a\": \"bool = 1\"}}}",
     "1:62: op type 'T': attribute 'a' cannot be '1': that is no bool"},
    {"{\"T\": {\"operands\": [\"x\"], \"results\": [], \"attributes\": {\"a\": \"float = one\"}}}",
     "1:62: op type 'T': attribute 'a' cannot be 'one': that is no float"},
    {"{\"T\": {\"operands\": [\"x\"], \"results\": [], \"attributes\": {\"a\": \"ints = 1\"}}}",
     "1:62: op type 'T': attribute 'a' cannot be '1': that is no ints"},
    {"{\"T\": {\"operands\": [\"x\"], \"results\": [], \"attributes\": {\"a\": \"ints = [1,]\"}}}",
     "1:62: op type 'T': attribute 'a' cannot be '[1,]': that is no ints"},
    {"{\"T\": {\"operands\": [\"x\"], \"results\": [], \"attributes\": {\"a\": \"ints = [1 2]\"}}}",
     "1:62: op type 'T': attribute 'a' cannot be '[1 2]': that is no ints"},
    {"{\"T\": {\"operands\": [\"x\"], \"results\": [], \"attributes\": {\"a\": \"ints = [1] 2\"}}}",
     "1:62: op type 'T': attribute 'a' cannot be '[1] 2': that is no ints"},
    {"{\"T\": {\"operands\": [\"x\"], \"results\": [], "
     "\"attributes\": {\"a\": \"ints = [1, 0.5]\"}}}",
     "1:62: op type 'T': attribute 'a' cannot be '[1, 0.5]': that is no ints"},
    {"{\"T\": {\"operands\": [\"x\"], \"results\": [], "
     "\"attributes\": {\"a\": \"int\", \"a\": \"int\"}}}",
     "1:69: this object has the key \"a\" twice"},
    {"{\"T\": {\"operands\": [\"x\"], \"results\": [], \"attributes\": {\"x\": \"int\"}}}",
     "1:57: op type 'T': attribute 'x' has the name of an operand or result"},
    {"{\"T\": {\"operands\": [\"x\"], \"results\": [], "
     "\"dtypes\": {\"x\": \"f32\", \"x\": \"f16\"}}}",
     "1:65: this object has the key \"x\" twice"},
    {"{\"T\": {\"operands\": [\"x\"], \"results\": [\"y\"], "
     "\"alias\": {\"y\": \"x\", \"y\": \"x\"}}}",
     "1:65: this object has the key \"y\" twice"},
    {"{\"T\": {\"operands\": [\"x\"], \"results\": [], \"shape\": [\"x\"]}}",
     "1:52: op type 'T': rule 'x': 'x' is a list, not a condition"},
    {"{\"T\": {\"operands\": [\"x\"], \"results\": [], \"flops\": \"1 / 0\"}}",
     "1:51: op type 'T': rule '1 / 0': '1 / 0' divides by 0"},
    {"{\"T\": {\"operands\": [\"x\"], \"results\": [], \"bytes\": \"x\"}}",
     "1:51: op type 'T': rule 'x': 'x' is a list, not a number"},
    {"{\"T\": {\"operands\": [], \"results\": [], \"attributes\": {\"a\": 0}}}",
     "1:59: op type 'T': attribute 'a' has no kind such as \"int\" or \"int = 0\""},
    {"{\"T\": {\"operands\": [], \"results\": [], \"attributes\": {\"a b\": \"int\"}}}",
     "1:54: op type 'T': 'a b' is no name of an attribute"},
    {"{\"T\": {\"operands\": [\"x\"], \"results\": [], \"graphs\": {\"f\": \"(x)\"}}}",
     "1:58: op type 'T': graph 'f' is no \"(OPERANDS) -> (RESULTS)\""},
    {"{\"T\": {\"operands\": [\"x\"], \"results\": [], \"graphs\": {\"f\": \"(x -> ()\"}}}",
     "1:58: op type 'T': graph 'f' is no \"(OPERANDS) -> (RESULTS)\""},
    {"{\"T\": {\"operands\": [\"x\"], \"results\": [], \"graphs\": {\"f\": \"(x) -> (x)\"}}}",
     "1:58: op type 'T': graph 'f' is no \"(OPERANDS) -> (RESULTS)\""},
    {"{\"T\": {\"operands\": [], \"results\": [], \"passive\": 1}}",
     "1:50: op type 'T': 'passive' is true or false"},
    {"{\"T\": {\"operands\": [], \"results\": [], \"flops\": 1}}",
     "1:48: op type 'T': 'flops' is a string"},
    {"{\"T\": {\"same\": \"T\"}}", "1:16: op type 'T': 'same' is no type that is known, but 'T'"},
    {"{\"T\": {\"same\": \"Silu\"}}",
     "1:16: op type 'T': 'same' is no type that is known, but 'Silu'"},
    {"{\"T\": {\"same\": \"Swish\", \"view\": true}}", "1:8: op type 'T': unknown key 'same'"},
    {"{\"T\": {\"operands\": [], \"results\": [], \"shape\": \"y = x\"}}",
     "1:48: op type 'T': 'shape' is a list of rules"},
    {"{\"T\": {\"operands\": [\"x\", \"l*\"], \"results\": [\"y\"], "
     "\"dtypes\": {\"x\": \"i32\"}, \"values\": []}}",
     "1:85: op type 'T': 'values' is an object"},
    {"{\"T\": {\"operands\": [\"x\", \"l*\"], \"results\": [\"y\"], "
     "\"dtypes\": {\"x\": \"i32\"}, \"values\": {\"z\": \"0 .. 1\"}}}",
     "1:86: op type 'T': 'values' has no operand 'z'"},
    {"{\"T\": {\"operands\": [\"x\", \"l*\"], \"results\": [\"y\"], "
     "\"dtypes\": {\"x\": \"i32\"}, \"values\": {\"y\": \"0 .. 1\"}}}",
     "1:86: op type 'T': 'values' has no operand 'y'"},
    {"{\"T\": {\"operands\": [\"x\", \"l*\"], \"results\": [\"y\"], "
     "\"dtypes\": {\"l\": \"i32\"}, \"values\": {\"l\": \"0 .. 1\"}}}",
     "1:86: op type 'T': 'values' has no operand 'l' that is no list"},
    {"{\"T\": {\"operands\": [\"x\", \"l*\"], \"results\": [\"y\"], "
     "\"dtypes\": {}, \"values\": {\"x\": \"0 .. 1\"}}}",
     "1:76: op type 'T': 'values' of 'x', which 'dtypes' does not say to be integers below u64"},
    {"{\"T\": {\"operands\": [\"x\", \"l*\"], \"results\": [\"y\"], "
     "\"dtypes\": {\"x\": \"i32 | u64\"}, \"values\": {\"x\": \"0 .. 1\"}}}",
     "1:92: op type 'T': 'values' of 'x', which 'dtypes' does not say to be integers below u64"},
    {"{\"T\": {\"operands\": [\"x\", \"l*\"], \"results\": [\"y\"], "
     "\"dtypes\": {\"x\": \"i32\"}, \"values\": {\"x\": 3}}}",
     "1:91: op type 'T': 'values' of 'x' is a rule or a list of rules"},
    {"{\"T\": {\"operands\": [\"x\", \"l*\"], \"results\": [\"y\"], "
     "\"dtypes\": {\"x\": \"i32\"}, \"values\": {\"x\": [\"0 .. 1\", 3]}}}",
     "1:91: op type 'T': 'values' of 'x' is a rule or a list of rules"},
    {"{\"T\": {\"operands\": [\"x\", \"l*\"], \"results\": [\"y\"], "
     "\"dtypes\": {\"x\": \"i32\"}, \"values\": {\"x\": {\"a\": \"0 .. 1\"}}}}",
     "1:91: op type 'T': 'values' of 'x' is a rule or a list of rules"},
    {"{\"T\": {\"operands\": [\"x\", \"l*\"], \"results\": [\"y\"], "
     "\"dtypes\": {\"x\": \"i32\"}, \"values\": {\"x\": \"0 ..\"}}}",
     "1:91: op type 'T': rule '0 ..': a value is missing at the end"},
    {"{\"T\": {\"operands\": [\"x\", \"l*\"], \"results\": [\"y\"], "
     "\"dtypes\": {\"x\": \"i32\"}, \"values\": {\"x\": \"0 .. 1 .. 2\"}}}",
     "1:91: op type 'T': rule '0 .. 1 .. 2': '.. 2' is too much"},
    {"{\"T\": {\"operands\": [\"x\", \"l*\"], \"results\": [\"y\"], "
     "\"dtypes\": {\"x\": \"i32\"}, \"values\": {\"x\": \"(0 .. 1)\"}}}",
     "1:91: op type 'T': rule '(0 .. 1)': ) is missing before '.. 1)'"},
    {"{\"T\": {\"operands\": [\"x\", \"l*\"], \"results\": [\"y\"], "
     "\"dtypes\": {\"x\": \"i32\"}, \"values\": {\"x\": \"y = [place]\"}}}",
     "1:91: op type 'T': rule 'y = [place]' is of a shape, but speaks of one element"},
    {"{\"T\": {\"operands\": [\"x\", \"l*\"], \"results\": [\"y\"], "
     "\"dtypes\": {\"x\": \"i32\"}, \"values\": {\"x\": \"contents(y[0]) == y\"}}}",
     "1:91: op type 'T': rule 'contents(y[0]) == y': 'contents' is of an operand or result, "
     "not of 'y[0]'"},
    {"{\"T\": {\"operands\": [\"x\", \"l*\"], \"results\": [\"y\"], "
     "\"dtypes\": {\"x\": \"i32\"}, \"values\": {\"x\": \"0 .. n\"}}}",
     "1:91: op type 'T': rule '0 .. n': nothing says what 'n' is"},
    {"{\"T\": {\"operands\": [\"x\"], \"results\": [\"y\"], \"shape\": [\"y = contents(x)\"]}}",
     "1:55: op type 'T': rule 'y = contents(x)': 'contents' is for rules of 'values'"},
    {"{\"T\": {\"operands\": [\"x\"], \"results\": [\"y\"], \"shape\": [\"x[0] .. 3\"]}}",
     "1:55: op type 'T': rule 'x[0] .. 3': '.. 3' is too much"},
    {"{\"T\": {\"operands\": [\"x\"], \"results\": [\"y\"], \"shape\": [\"place == 0\"]}}",
     "1:55: op type 'T': rule 'place == 0': nothing says what 'place' is"},
};

/* More than there may be of attributes and of rules. */
static void check_many(const char *first, const char *before, const char *behind, const char *last,
                       unsigned count, const char *wrong)
{
    struct op_types *types = op_types_new();
    struct text json = {NULL, 0, 0};
    char error[200];
    text_string(&json, first);
    for (unsigned i = 0; i < count; i++)
        text_printf(&json, "%s%s%u%s", i ? "," : "", before, i, behind);
    text_string(&json, last);
    text_char(&json, '\0');
    assert_int_equal(add(types, json.at, error, sizeof error), wrong == NULL);
    if (wrong)
        assert_non_null(strstr(error, wrong));
    text_free(&json);
    op_types_free(types);
}

static void test_many(void **state)
{
    static const char attrs[] = "{\"T\": {\"operands\": [], \"results\": [], \"attributes\": {";
    static const char rules[] = "{\"T\": {\"operands\": [], \"results\": [], \"shape\": [";
    (void)state;
    check_many(attrs, "\"a", "\": \"int\"", "}}}", MAX_OP_ATTRS, NULL);
    check_many(attrs, "\"a", "\": \"int\"", "}}}", MAX_OP_ATTRS + 1,
               "there are more than 256 attributes");
    check_many(rules, "\"", " == 0\"", "]}}", MAX_OP_RULES, NULL);
    check_many(rules, "\"", " == 0\"", "]}}", MAX_OP_RULES + 1,
               "there are more than 64 rules of shapes");
}

static void test_malformed(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++) {
        struct op_types *types = op_types_new();
        char error[200], expected[200];
        snprintf(expected, sizeof expected, "lib/own.ops.json:%s", malformed[i].error);
        assert_false(add(types, malformed[i].json, error, sizeof error));
        assert_string_equal(error, expected);
        assert_null(find(types, "T"));
        op_types_free(types);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_data),
        cmocka_unit_test(test_slots),
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_graphs),
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_names_of_modules),
        cmocka_unit_test(test_private_types),
        cmocka_unit_test(test_other_names),
        cmocka_unit_test(test_malformed),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
