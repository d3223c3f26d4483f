/* Fuzz target of data of op types, its rules and the inference of types: any bytes up to the first
 * "skir" are data, what follows is a module that uses it; without one, data is asked of tensors
 * that come from its own bytes. What is inferred must be what the verifier takes where it is
 * written, and a type that does not follow must be reported.
 *
 * With -fsanitize=fuzzer it is a libFuzzer target. With -DREPLAY it has a plain main that runs the
 * files named as arguments. */
#define _GNU_SOURCE /* memmem */
#include "ir/optypes/op_shapes.h"
#include "ir/support/file_fault.h"
#include "tests/fuzz/print_diags.h"
#include "tests/fuzz/replay.h"
#include "tests/unit/parsed_module.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_TENSORS = 12, MAX_DIMS = 5 };

static void give_up(const char *what, struct diags *diags)
{
    fprintf(stderr, "%s\n", what);
    if (diags)
        diags_print(diags, stderr, false);
    abort();
}

/* -------------------------------------------------------------------------- alone ---- */

/* Bytes, over and over. */
struct bytes {
    const uint8_t *data;
    size_t size, at;
};

static uint8_t next_byte(struct bytes *bytes)
{
    return bytes->size ? bytes->data[bytes->at++ % bytes->size] : 0;
}

/* One of a few numbers for an attribute; some have none. */
static bool attr_of_bytes(const struct op_call *call, const struct op_attr *attr,
                          struct arena *arena, struct op_attr_value *value)
{
    static const int64_t numbers[] = {0, 1, 2, -1, 3, INT64_MAX, INT64_MIN, 7};
    struct bytes bytes = *(const struct bytes *)call->user;
    (void)arena;
    bytes.at += strlen(attr->name) * 7;
    uint8_t byte = next_byte(&bytes);
    if (byte % 5 == 0)
        return false;
    *value = (struct op_attr_value){numbers + byte % 4, (uint32_t)byte % 5, "text"};
    return true;
}

/* A few numbers in vectors that are as short. */
static bool contents_of_bytes(const struct op_call *call, uint32_t tensor, struct arena *arena,
                              struct op_contents *contents)
{
    static const int64_t numbers[] = {1, -1, 0, 2, INT64_MIN};
    const struct op_tensor *vector = &call->tensors[tensor];
    (void)arena;
    if (vector->rank != 1 || vector->dims[0] < 0 || vector->dims[0] > 4)
        return false;
    *contents = (struct op_contents){numbers + (tensor & 1), (uint64_t)vector->dims[0]};
    return true;
}

static void ask(const struct op_type *type, struct bytes *bytes)
{
    static const int64_t sizes[] = {0, 1, 2, 3, 4, DIM_UNKNOWN, INT64_C(1) << 40, DIM_GEAR + 9};
    struct op_tensor tensors[MAX_TENSORS];
    int64_t dims[MAX_TENSORS][MAX_DIMS];
    struct op_call call = {.type = type,
                           .tensors = tensors,
                           .attr = attr_of_bytes,
                           .user = bytes,
                           .contents = contents_of_bytes};
    uint32_t slots = type->n_operands + type->n_results;
    for (; slots && call.n_tensors < MAX_TENSORS; call.n_tensors++) {
        uint32_t rank = next_byte(bytes) % (MAX_DIMS + 2);
        tensors[call.n_tensors] = (struct op_tensor){
            .slot = call.n_tensors < slots ? call.n_tensors : next_byte(bytes) % slots,
            .rank = rank > MAX_DIMS ? RANK_UNKNOWN : rank,
            .dims = dims[call.n_tensors],
            .bits = 16};
        for (uint32_t i = 0; i < MAX_DIMS; i++)
            dims[call.n_tensors][i] = sizes[next_byte(bytes) % 8];
    }
    struct arena arena = {NULL, 0};
    struct op_shape shapes[MAX_TENSORS];
    struct op_fault fault;
    struct op_range_fault range;
    int64_t number;
    if (!op_shapes_check(&call, &fault) && strlen(fault.text) == 0)
        give_up("a fault without words", NULL);
    op_shapes_infer(&call, NULL, &arena, shapes, &fault);
    if (!op_ranges_check(&call, &range) && strlen(range.text) == 0)
        give_up("numbers are refused without words", NULL);
    op_shapes_number(&call, &type->flops, &number, &fault);
    op_shapes_number(&call, &type->bytes, &number, &fault);
    arena_free(&arena);
}

static void try_data(const char *json, size_t size)
{
    struct file_fault fault;
    struct bytes bytes = {(const uint8_t *)json, size, 0};
    struct op_types *types = op_types_new();
    uint32_t known = 0;
    while (op_types_at(types, known))
        known++;
    op_types_add(types, "own.ops.json", json, size, &fault);
    const struct op_type *type;
    for (uint32_t i = known; (type = op_types_at(types, i)); i++)
        for (int n = 0; n < 4; n++)
            ask(type, &bytes);
    if (type == NULL && known > 0) /* and one of those that all know */
        ask(op_types_at(types, next_byte(&bytes) % known), &bytes);
    op_types_free(types);
}

/* ----------------------------------------------------------------------- in modules ---- */

/* Whether the module is right. */
static bool judge(struct parsed_module *parsed, const char *json, size_t size)
{
    struct file_fault fault;
    if (!parsed->module)
        return false;
    op_types_add(op_types_of(parsed->module), "own.ops.json", json, size, &fault);
    bool inferred = infer_types(parsed->module, &parsed->diags);
    return verify_module(parsed->module, &parsed->diags) && inferred;
}

static void check_written(const struct text *printed, const char *json, size_t size)
{
    struct parsed_module again;
    parsed_init(&again, printed->at, printed->size);
    if (!judge(&again, json, size))
        give_up("types that were inferred are refused where they are written", &again.diags);
    struct text second = parsed_print(&again, false);
    if (second.size != printed->size || memcmp(second.at, printed->at, second.size) != 0)
        give_up("what was inferred prints otherwise", NULL);
    text_free(&second);
    parsed_free(&again);
}

static void try_module(const char *json, size_t size, const char *text, size_t text_size)
{
    struct parsed_module parsed;
    parsed_init(&parsed, text, text_size);
    if (judge(&parsed, json, size)) {
        struct text printed = parsed_print(&parsed, false);
        check_written(&printed, json, size);
        text_free(&printed);
    }
    print_diags(&parsed.diags);
    parsed_free(&parsed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *text = memmem(data, size, "skir ", 5);
    size_t json_size = text ? (size_t)(text - data) : size;
    char *json = calloc(json_size + 1, 1);
    if (!json)
        abort();
    if (size)
        memcpy(json, data, json_size);
    if (text)
        try_module(json, json_size, (const char *)text, size - json_size);
    else
        try_data(json, json_size);
    free(json);
    return 0;
}
