/* What a module offers beside its text: elements by their names, how its parts are spelled. */
#include "ir/syntax/spelling.h"
#include "tests/unit/parsed_module.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static struct parsed_module parse(const char *text)
{
    struct parsed_module parsed;
    parsed_init(&parsed, text, strlen(text));
    assert_non_null(parsed.module);
    return parsed;
}

static uint32_t name_of(const struct parsed_module *parsed, const char *text)
{
    return module_name(parsed->module, text);
}

/* ------------------------------------------------------------------------ ir/base/ids.h ---- */

static void test_id_map(void **state)
{
    (void)state;
    struct id_map map = {NULL, 0, 0};
    assert_int_equal(id_map_find(&map, 0), NONE);
    assert_int_equal(id_map_find(&map, NONE), NONE);
    id_map_set(&map, 5, 50);
    for (uint32_t key = 0; key < 5; key++)
        assert_int_equal(id_map_find(&map, key), NONE);
    for (uint32_t key = 0; key < 5000; key += 7)
        id_map_set(&map, key, key + 1);
    assert_int_equal(id_map_get(&map, 5), 50);
    for (uint32_t key = 6; key < 6000; key++)
        assert_int_equal(id_map_find(&map, key), key < 5000 && key % 7 == 0 ? key + 1 : NONE);
    id_map_unset(&map, 7);
    assert_int_equal(id_map_find(&map, 7), NONE);
    id_map_clear(&map);
    assert_int_equal(id_map_find(&map, 14), NONE);
    id_map_set(&map, 3, 30);
    assert_int_equal(id_map_find(&map, 3), 30);
    assert_int_equal(id_map_find(&map, 14), NONE);
    id_map_free(&map);
    assert_int_equal(id_map_find(&map, 3), NONE);
}

/* ---------------------------------------------------------------------- names of elements ---- */

/* Each kind has names of its own, also where they are the same. */
static void test_find(void **state)
{
    (void)state;
    struct parsed_module parsed = parse("skir 1\n"
                                        "kernel @k : aiv_only\n"
                                        "kernel @f : aic_only\n"
                                        "graph @f() -> () {\n}\n"
                                        "graph @g() -> () {\n}\n"
                                        "entry @g : aiv_only {\n  aiv {\n  }\n}\n");
    const struct module *module = parsed.module;
    uint32_t k = name_of(&parsed, "k"), f = name_of(&parsed, "f"), g = name_of(&parsed, "g");
    assert_ptr_equal(module_find_kernel(module, k), &module->kernels.at[0]);
    assert_ptr_equal(module_find_kernel(module, f), &module->kernels.at[1]);
    assert_null(module_find_kernel(module, g));
    assert_ptr_equal(module_find_graph(module, f), &module->graphs.at[0]);
    assert_ptr_equal(module_graph(module, g), &module->graphs.at[1]);
    assert_null(module_find_graph(module, k));
    assert_ptr_equal(module_find_entry(module, g), &module->entries.at[0]);
    assert_ptr_equal(module_entry(module, g), &module->entries.at[0]);
    assert_null(module_find_entry(module, f));
    assert_ptr_equal(module_kernel(module, f), &module->kernels.at[1]);
    assert_int_equal(kernel_id(module, module_kernel(module, f)), 1);
    assert_null(module_find_kernel(module, NONE));
    assert_null(module_find_entry(module, name_of(&parsed, "new")));
    parsed_free(&parsed);
}

/* Of elements with one name the first counts, and what is added is found at once. */
static void test_find_added(void **state)
{
    (void)state;
    struct parsed_module parsed = parse("skir 1\n"
                                        "kernel @k : aiv_only\n"
                                        "kernel @k : aic_only\n");
    struct module *module = parsed.module;
    uint32_t k = name_of(&parsed, "k");
    assert_int_equal(module_find(module, SYMBOL_KERNEL, k), 0);
    for (unsigned i = 0; i < 100; i++)
        module_name_printf(module, "between%u", i);
    for (uint32_t i = 0; i < 100; i++) {
        uint32_t name = module_name_printf(module, "k%u", i);
        assert_null(module_find_kernel(module, name));
        module_add_kernel(module, name, KERNEL_aiv_only);
        module_add_kernel(module, name, KERNEL_aic_only);
        assert_int_equal(module_find(module, SYMBOL_KERNEL, name), 2 + 2 * i);
        assert_int_equal(module_kernel(module, name)->type, KERNEL_aiv_only);
    }
    module_add_kernel(module, k, KERNEL_mix_aic_1_1);
    assert_int_equal(module_kernel(module, k)->type, KERNEL_aiv_only);
    parsed_free(&parsed);
}

/* ------------------------------------------------------------------------------ ir/slots.h ---- */

static uint32_t slot_in(const char *params, uint32_t word, uint32_t *profile)
{
    struct arena arena = {NULL, 0};
    struct parsed_module parsed =
        parse(arena_printf(&arena, "skir 1\nentry @e : aiv_only {block = 1%s} {\n}\n", params));
    const struct entry *entry = &parsed.module->entries.at[0];
    uint32_t slot = entry_slot(parsed.module, entry, word);
    *profile = entry_profile_slot(parsed.module, entry);
    parsed_free(&parsed);
    arena_free(&arena);
    return slot;
}

static void test_entry_slot(void **state)
{
    (void)state;
    static const struct {
        const char *params;
        uint32_t slot, profile; /* slot of sync_workspace */
    } cases[] = {
        {"", NONE, NONE},
        {", params = sync_workspace", NONE, NONE},
        {", params = []", NONE, NONE},
        {", params = [ffts, %sync_workspace]", NONE, NONE},
        {", params = [ffts, %a, sync_workspace]", 2, NONE},
        {", params = [ffts, sync_workspace, profiling, profiling]", 1, 2},
        {", params = [sync_workspace, sync_workspace, profiling]", 0, NONE},
        {", params = [profiling, profiling]", NONE, NONE},
        {", params = [ffts, profiling, %profiling]", NONE, NONE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t profile;
        assert_int_equal(slot_in(cases[i].params, W_sync_workspace, &profile), cases[i].slot);
        assert_int_equal(profile, cases[i].profile);
    }
}

/* -------------------------------------------------------------------- ir/syntax/spelling.h ---- */

static void test_spell_quoted(void **state)
{
    (void)state;
    struct text text = {NULL, 0, 0};
    spell_quoted(&text, "a\"\\\n\t\r\0\x1f\x7f\xc3\xa9", 11);
    text_char(&text, '\0');
    assert_string_equal(text.at, "\"a\\\"\\\\\\n\\t\\r\\x00\\x1f\\x7f\xc3\xa9\"");
    text_free(&text);
}

/* Names that are no words are quoted in messages, as in the text. */
static void test_op_text(void **state)
{
    (void)state;
    struct parsed_module parsed = parse("skir 1\n"
                                        "graph @g(%a: f32[2, ?], %\"b c\": f32[1]) -> () {\n"
                                        "  %x, %y = Add(%a, %\"b c\") : (f32[1], f32[1])\n"
                                        "  %z.1 = \"Odd type\"() : f32[1]:NC1HWC0\n"
                                        "  Nop()\n"
                                        "}\n");
    static const char *const names[] = {"Add %x", "\"Odd type\" %z.1", "Nop"};
    static const char *const calls[] = {"Add(%a, %\"b c\", %x, %y)", "Odd type(%z.1)", "Nop"};
    const struct graph *graph = &parsed.module->graphs.at[0];
    struct arena arena = {NULL, 0};
    for (uint32_t i = 0; i < graph->ops.count; i++) {
        const struct op *op = &graph->ops.at[i];
        assert_string_equal(op_text(parsed.module, graph, op, &arena), names[i]);
        assert_string_equal(op_call_text(parsed.module, graph, op, &arena), calls[i]);
    }
    assert_string_equal(type_text(parsed.module, graph->values.at[0].type, &arena), "f32[2, ?]");
    assert_string_equal(
        type_text(parsed.module, graph->values.at[graph->ops.at[1].results.first].type, &arena),
        "f32[1]:NC1HWC0");
    arena_free(&arena);
    parsed_free(&parsed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_id_map),       cmocka_unit_test(test_find),
        cmocka_unit_test(test_find_added),   cmocka_unit_test(test_entry_slot),
        cmocka_unit_test(test_spell_quoted), cmocka_unit_test(test_op_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
