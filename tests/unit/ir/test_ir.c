/* What a module offers beside its text: elements by their names, slots, how its parts are spelled,
 * and where they stand in a source. */
#include "ir/core/invariants.h"
#include "ir/core/kernel_args.h"
#include "ir/syntax/locate.h"
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

/* ------------------------------------------------------------------------ ir/support/ids.h ---- */

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
    id_map_unset(&map, 8);
    assert_int_equal(id_map_find(&map, 7), NONE);
    assert_int_equal(id_map_next(&map, 1), 5);
    assert_int_equal(id_map_next(&map, 14), 14);
    assert_int_equal(id_map_next(&map, 4999), NONE);
    id_map_set(&map, 9000, 1);
    assert_int_equal(id_map_next(&map, 4999), 9000);
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

/* ------------------------------------------------------------------- ir/core/kernel_args.h ---- */

static uint32_t slot_in(const char *args, uint32_t word, uint32_t *profile)
{
    struct arena arena = {NULL, 0};
    struct parsed_module parsed =
        parse(arena_printf(&arena, "skir 1\nentry @e : aiv_only {block = 1} {\n%s\n}\n", args));
    const struct entry *entry = &parsed.module->entries.at[0];
    uint32_t slot = entry_slot(entry, word);
    *profile = entry_profile_slot(entry);
    parsed_free(&parsed);
    arena_free(&arena);
    return slot;
}

static void test_entry_slot(void **state)
{
    (void)state;
    static const struct {
        const char *args;
        uint32_t slot, profile; /* slot of sync_workspace */
    } cases[] = {
        {"", NONE, NONE},
        {"args []", NONE, NONE},
        {"args [%sync_workspace]", NONE, NONE},
        {"args %a = [sync_workspace, profiling, profiling]", NONE, NONE},
        {"args %a = [%a] args [sync_workspace]", 2, NONE},
        {"args [sync_workspace, profiling, profiling]", 1, 2},
        {"args [sync_workspace] args [sync_workspace, profiling]", 1, NONE},
        {"args [profiling, profiling]", NONE, 1},
        {"args %a = [%b, profiling] args [profiling]", NONE, NONE},
        {"args %a = [%b] args [profiling] args [profiling]", NONE, 2},
        {"args [profiling, %profiling]", NONE, NONE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint32_t profile;
        assert_int_equal(slot_in(cases[i].args, W_sync_workspace, &profile), cases[i].slot);
        assert_int_equal(profile, cases[i].profile);
    }
}

/* What is put in stands in its place, and the slots behind it move. */
static void test_insert_words(void **state)
{
    (void)state;
    struct parsed_module parsed = parse("skir 1\nentry @e : aiv_only {block = 1} {\n"
                                        "args %a = [%x, %a] args U = [] args %b = [%a, lock]\n"
                                        "args [profiling, profiling] aiv { } }\n");
    struct entry *entry = &parsed.module->entries.at[0];
    assert_int_equal(entry_named_groups(entry), 3);
    assert_int_equal(entry_profile_slot(entry), 5);
    entry_insert_words(entry, 3, W_sync_workspace, 1);
    assert_int_equal(entry_slots(entry), 8);
    assert_int_equal(entry_slot(entry, W_sync_workspace), 5);
    assert_int_equal(entry_profile_slot(entry), 6);
    assert_int_equal(group_slot(entry, &entry->groups.at[2]), 3);
    assert_int_equal(group_slot(entry, &entry->groups.at[4]), 6);
    assert_true(module_is_sound(parsed.module));
    parsed_free(&parsed);
}

/* Without a sync base slots begin at 0, whether the target stands before the entry or behind it,
 * and however it says its chip. */
static void test_chips(void **state)
{
    (void)state;
    static const struct {
        const char *before, *behind;
        uint32_t first;
    } cases[] = {
        {"", "", 1},
        {"target \"t\" {arch = \"c310\"}\n", "", 0},
        {"", "target \"t\" {arch = \"c310\"}\n", 0},
        {"target \"Ascend910_9599\"\n", "", 0},
        {"target \"Ascend910_9391\"\n", "", 1},
        {"", "target \"Ascend910_9599\" {arch = \"c220\"}\n", 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[400];
        snprintf(text, sizeof text,
                 "skir 1\n%sentry @e : aiv_only {block = 1} {\nargs %%a = [%%x, send e]\n"
                 "args [sync_workspace] aiv { notify e } }\n%s",
                 cases[i].before, cases[i].behind);
        struct parsed_module parsed = parse(text);
        const struct entry *entry = &parsed.module->entries.at[0];
        struct event_slots slots = {{NULL, 0, 0}, {NULL, 0, 0}};
        event_slots_take(&slots, entry);
        assert_int_equal(group_slot(entry, &entry->groups.at[0]), cases[i].first);
        assert_int_equal(entry_slot(entry, W_sync_workspace), cases[i].first + 2);
        assert_int_equal(entry_slots(entry), cases[i].first + 3);
        assert_int_equal(instr_event_slot(&slots, entry, &entry->programs[CORE_AIV].instrs.at[0]),
                         cases[i].first + 1);
        event_slots_free(&slots);
        parsed_free(&parsed);
    }
}

/* Each event has the slot of the first argument of its kind, in its own entry only. */
static void test_event_slots(void **state)
{
    (void)state;
    struct parsed_module parsed =
        parse("skir 1\nentry @e : aiv_only {block = 1} {\n"
              "args %a = [%x, send e, recv f] args %b = [tiling_key, block_num, lock, recv f]\n"
              "aiv { notify e wait_event f reset f reset lock %b notify f } }\n"
              "entry @f : aiv_only {block = 1} {\nargs [recv e] aiv { notify e reset e } }\n");
    static const uint32_t expected[2][5] = {{2, 3, 3, 6, NONE}, {NONE, 1}};
    struct event_slots slots = {{NULL, 0, 0}, {NULL, 0, 0}};
    for (uint32_t e = 0; e < 2; e++) {
        const struct entry *entry = &parsed.module->entries.at[e];
        event_slots_take(&slots, entry);
        for (uint32_t i = 0; i < entry->programs[CORE_AIV].instrs.count; i++)
            assert_int_equal(
                instr_event_slot(&slots, entry, &entry->programs[CORE_AIV].instrs.at[i]),
                expected[e][i]);
        event_slots_leave(&slots, entry);
    }
    event_slots_free(&slots);
    parsed_free(&parsed);
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

/* ---------------------------------------------------------------------- ir/syntax/locate.h ---- */

/* A text that would be another program if it were scanned as .skir: braces, quotes, words. */
static const char foreign[] = "node {\n"
                              "  name: \"x\" op: \"Add\" @nobody {unknown = \n"
                              "  input: \"a\"\n"
                              "}\n"
                              "node { op: \"Mul\" }\n";

static uint32_t offset_of(const char *part)
{
    return (uint32_t)(strstr(foreign, part) - foreign);
}

/* A graph with an op at "name" and one at "Mul", as a reader of that text would make it. */
static struct module *read_foreign(struct source *source)
{
    assert_true(source_init_foreign(source, "graph.pbtxt", foreign, sizeof foreign - 1));
    source_add_token(source, (struct span){offset_of("node"), offset_of("node") + 4});
    source_add_token(source, (struct span){offset_of("Mul"), offset_of("Mul") + 3});
    struct module *module = module_new(source);
    uint32_t type = module_type(module, DTYPE_f32, W_ND, (const int64_t[]){4}, 1);
    uint32_t scope = module_name(module, "s");
    struct graph *graph = module_add_graph(module, module_name(module, "g"));
    graph->loc = offset_of("node");
    struct attr options = {W_options,
                           offset_of("input"),
                           {.kind = ATTR_STRING, .id = module_name(module, "profiling=1:x=1")}};
    struct block block = {.kind = BLOCK_SCOPE,
                          .name = scope,
                          .parent = NONE,
                          .loc = offset_of("name"),
                          .end_loc = NONE,
                          .attrs = module_add_attrs(module, &options, 1)};
    graph_add_block(graph, &block);
    graph_add_item(graph, ITEM_OPEN, 0);
    const char *const types[] = {"Add", "Mul"}, *const places[] = {"name", "Mul"};
    for (uint32_t i = 0; i < 2; i++) {
        struct op op = {.type = module_name(module, types[i]),
                        .loc = offset_of(places[i]),
                        .kernel = module_name(module, i ? "mul" : "add"),
                        .results = {i, 1}};
        graph_add_value(graph, module_name(module, types[i]), type, i);
        graph_add_item(graph, ITEM_OP, graph_add_op(graph, &op));
    }
    graph_add_item(graph, ITEM_CLOSE, 0);
    return module;
}

static void assert_span(struct span span, uint32_t begin, uint32_t size)
{
    assert_int_equal(span.begin, begin);
    assert_int_equal(span.end, begin + size);
}

/* Of a foreign source nothing is scanned: what the reader recorded stands for all parts. */
static void test_locate_foreign(void **state)
{
    (void)state;
    struct source source;
    struct module *module = read_foreign(&source);
    const struct graph *graph = &module->graphs.at[0];
    uint32_t names = module->names.count;
    for (int part = 0; part <= OP_WHOLE; part++) {
        assert_span(locate_op(module, &graph->ops.at[0], part, 0), offset_of("name"), 1);
        assert_span(locate_op(module, &graph->ops.at[1], part, 7), offset_of("Mul"), 3);
    }
    assert_span(locate_token(module, offset_of("@nobody")), offset_of("@nobody"), 1);
    assert_span(locate_name(module, graph->loc), 0, 4);
    assert_span(locate_value(module, graph, 1), offset_of("Mul"), 3);
    const struct block *block = &graph->blocks.at[0];
    assert_span(locate_option(module, block, SK_profiling), offset_of("input"), 1);
    assert_span(locate_options(module, &module->attrs.at[block->attrs.first]), offset_of("input"),
                1);
    assert_span(locate_return(module, graph, 0), 0, 0);
    assert_span(locate_token(module, NONE), 0, 0);
    assert_int_equal(module->names.count, names);
    module_free(module);
    source_free(&source);
}

/* Diagnostics point into the foreign text. */
static void test_verify_foreign(void **state)
{
    (void)state;
    struct source source;
    struct diags diags;
    struct module *module = read_foreign(&source);
    diags_init(&diags, &source, "graph.pbtxt");
    assert_false(verify_module(module, &diags));
    assert_int_equal(diags.list.count, 3);
    const struct diag **sorted = diags_sorted(&diags);
    const char *const ids[] = {"unknown-kernel", "unknown-option", "unknown-kernel"};
    const struct position places[] = {{2, 3}, {3, 3}, {5, 13}};
    for (uint32_t i = 0; i < 3; i++) {
        struct position at = source_position(&source, sorted[i]->span.begin);
        assert_string_equal(diag_id_text(sorted[i]->id), ids[i]);
        assert_int_equal(at.line, places[i].line);
        assert_int_equal(at.column, places[i].column);
    }
    mem_free(sorted);
    diags_free(&diags);
    module_free(module);
    source_free(&source);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_id_map),         cmocka_unit_test(test_find),
        cmocka_unit_test(test_find_added),     cmocka_unit_test(test_entry_slot),
        cmocka_unit_test(test_insert_words),   cmocka_unit_test(test_chips),
        cmocka_unit_test(test_event_slots),    cmocka_unit_test(test_spell_quoted),
        cmocka_unit_test(test_op_text),        cmocka_unit_test(test_locate_foreign),
        cmocka_unit_test(test_verify_foreign),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
