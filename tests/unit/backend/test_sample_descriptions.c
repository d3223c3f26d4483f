/* The descriptions of sample kernels say what their ops' signatures say. They are read by cJSON: by
 * whom others read them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "backend/kernels/sample_ops.h"
#include "ir/optypes/op_types.h"

static struct op_types *known;

/* "IsInf" to "is_inf", "QuantBatchMatmulV3" to "quant_batch_matmul_v3", "LRN" to "lrn". */
static void snake_case(const char *name, char *text, size_t size)
{
    size_t used = 0;
    bool acronym = strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == strlen(name);
    for (const char *at = name; *at != '\0' && used + 2 < size; at++) {
        bool upper = *at >= 'A' && *at <= 'Z';
        if (upper && at != name && !acronym)
            text[used++] = '_';
        text[used++] = (char)(upper ? *at - 'A' + 'a' : *at);
    }
    text[used] = '\0';
}

/* The descriptions are made beside the compiler. */
static FILE *description_open(const char *skirc, const char *kernel)
{
    char path[4096];
    int folder = (int)(strrchr(skirc, '/') - skirc);
    snprintf(path, sizeof path, "%.*s/backend/kernels/%s.json", folder, skirc, kernel);
    return fopen(path, "r");
}

/* Of the kernel `name`, which is made "name_op" if that is what there is. */
static cJSON *description_read(const char *skirc, char *name, size_t size)
{
    char text[4096];
    FILE *file = description_open(skirc, name);
    if (file == NULL) {
        snprintf(name + strlen(name), size - strlen(name), "_op");
        file = description_open(skirc, name);
    }
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    cJSON *json = cJSON_Parse(text);
    assert_non_null(json);
    return json;
}

static const char *text_at(const cJSON *json, const char *key)
{
    const char *text = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(json, key));
    assert_non_null(text);
    return text;
}

static void check_functions(const cJSON *json, const char *kernel, const char *arch,
                            const char *suffix)
{
    char expected[128];
    const cJSON *names = cJSON_GetObjectItemCaseSensitive(json, "sub_operator_kernel_name");
    const cJSON *part = cJSON_GetObjectItemCaseSensitive(names, arch);
    snprintf(expected, sizeof expected, "%s%s", kernel, suffix);
    assert_string_equal(text_at(part, "func_name"), expected);
    snprintf(expected, sizeof expected, "%s.o", kernel);
    assert_string_equal(text_at(part, "obj_files"), expected);
}

static void check_description(const cJSON *json, const char *op_type, const char *kernel)
{
    unsigned operands, results;
    assert_true(sample_op_arity(known, op_type, &operands, &results));
    assert_string_equal(text_at(json, "sub_operator_op_type"), op_type);
    assert_string_equal(text_at(json, "kernelName"), kernel);
    const cJSON *params = cJSON_GetObjectItemCaseSensitive(json, "sub_operator_params");
    bool workspace = cJSON_HasObjectItem(json, "skir_workspace");
    int n = cJSON_GetArraySize(params);
    assert_int_equal(n, operands + results + workspace + 1);
    const char *last = cJSON_GetArrayItem(params, n - 1)->valuestring;
    bool repeated = last[strlen(last) - 1] == '+';
    assert_string_equal(cJSON_GetArrayItem(params, n - 1 - repeated)->valuestring, "tiling");
    if (workspace)
        assert_string_equal(cJSON_GetArrayItem(params, n - 2)->valuestring, "workspace");

    const char *kind = text_at(json, "sub_operator_kernel_type");
    bool vector = strcmp(kind, "KERNEL_TYPE_AIV_ONLY") == 0;
    double blocks = cJSON_GetObjectItemCaseSensitive(json, "blockDim")->valuedouble;
    assert_int_equal((int)blocks, vector ? 48 : 24);
    if (strcmp(kind, "KERNEL_TYPE_MIX_AIC_1_2") == 0) {
        check_functions(json, kernel, "dav-c220-cube", "_mix_aic");
        check_functions(json, kernel, "dav-c220-vec", "_mix_aiv");
    } else {
        assert_true(vector || strcmp(kind, "KERNEL_TYPE_AIC_ONLY") == 0);
        check_functions(json, kernel, "AiCore", "");
    }
}

/* Every op of the table has a description that agrees with it. */
static void test_descriptions(void **state)
{
    (void)state;
    const char *skirc = getenv("SKIRC");
    if (skirc == NULL)
        skip();
    for (unsigned i = 0; sample_op_name(i) != NULL; i++) {
        char kernel[64];
        snake_case(sample_op_name(i), kernel, sizeof kernel);
        cJSON *json = description_read(skirc, kernel, sizeof kernel);
        check_description(json, sample_op_name(i), kernel);
        cJSON_Delete(json);
    }
}

static int read_types(void **state)
{
    (void)state;
    known = op_types_new();
    return 0;
}

static int free_types(void **state)
{
    (void)state;
    op_types_free(known);
    return 0;
}
int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_descriptions)};
    return cmocka_run_group_tests(tests, read_types, free_types);
}
