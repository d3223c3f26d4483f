/* The templates of ir/core/instrs.def: every one can be filled in for every word and number that
 * its operands allow, its pieces are those that the target has, and the host's are C that skrt.h
 * declares. */
#include "backend/host/emit.h"
#include "backend/target/statement.h"
#include "tests/unit/parsed_module.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static struct instr make(enum instr_op op, uint8_t word, uint32_t first, uint32_t second)
{
    return (struct instr){.op = (uint8_t)op, .word = word, .number = {first, second}};
}

/* Pieces are written in angle brackets. */
static bool name_piece(void *user, const char *name, size_t size)
{
    struct text *text = user;
    text_char(text, '<');
    text_bytes(text, name, size);
    text_char(text, '>');
    return size != strlen("unknown") || memcmp(name, "unknown", size) != 0;
}

static bool expands(const char *template, struct instr instr, const char *expected)
{
    struct text text = {NULL, 0, 0};
    bool expanded = statement_expand(&text, template, &instr, name_piece, &text);
    text_char(&text, '\0');
    if (expanded && expected)
        assert_string_equal(text.at, expected);
    text_free(&text);
    return expanded;
}

static void test_expansion(void **state)
{
    (void)state;
    struct instr instr = make(INSTR_profile, PHASE_end, 7, 2);
    assert_true(expands("", instr, ""));
    assert_true(expands("plain(0)", instr, "plain(0)"));
    assert_true(expands("$0, $1;", instr, "7, 2;"));
    assert_true(expands("$B{begin|end}", instr, "end"));
    assert_true(expands("x_$1{a|b|c}_y", instr, "x_c_y"));
    assert_true(expands("f($site, $other_piece)", instr, "f(<site>, <other_piece>)"));
    assert_true(expands("$1{||}", instr, ""));
}

static void test_wrong_templates(void **state)
{
    (void)state;
    struct instr instr = make(INSTR_profile, PHASE_end, 7, 2);
    assert_false(expands("$B{begin}", instr, NULL));
    assert_false(expands("$1{a|b}", instr, NULL));
    assert_false(expands("$B{begin|end", instr, NULL));
    assert_false(expands("$unknown", instr, NULL));
    assert_false(expands("costs 5$", instr, NULL));
    assert_false(expands("$2", instr, NULL));
    assert_false(expands("$B", instr, NULL));
}

/* How many words an instruction may have. */
static uint8_t count_words(const char *operands)
{
    return strchr(operands, 'P') ? 3 : strpbrk(operands, "BGF") ? 2 : 1;
}

static void check_template(enum instr_op op, const char *template)
{
    uint8_t words = count_words(instr_info(op)->operands);
    for (uint8_t word = 0; template && word < words; word++)
        for (uint32_t number = 0; number < PROFILE_KINDS; number++)
            if (!expands(template, make(op, word, number, number), NULL))
                fail_msg("'%s' cannot be filled in: %s", instr_info(op)->name, template);
}

/* A choice by the word offers no more than the operand does. */
static void check_choices(enum instr_op op, const char *template)
{
    const char *choice = template ? strchr(template, '{') : NULL;
    bool by_number = choice && choice > template && choice[-1] == '1';
    uint8_t words = count_words(instr_info(op)->operands);
    if (choice && !by_number)
        assert_false(expands(template, make(op, words, 0, 0), NULL));
}

static void test_table(void **state)
{
    (void)state;
    for (int op = 0; op < INSTR_COUNT; op++) {
        check_template(op, instr_info(op)->host);
        check_template(op, instr_info(op)->ascend);
        check_choices(op, instr_info(op)->host);
        check_choices(op, instr_info(op)->ascend);
    }
}

/* ---------------------------------------------------------------------- the host's C ---- */

/* An instruction with operands that it takes in the program of a core type. */
static void put_instr(struct text *text, const struct instr_info *info, const char *core)
{
    bool sends = info->who == WHO_SENDER, aic = strcmp(core, "aic") == 0;
    text_string(text, info->name);
    for (const char *p = info->operands; *p;) {
        size_t size = strcspn(p, " ");
        text_char(text, ' ');
        switch (*p) {
        case 'K':
            text_printf(text, "@%s.%s", info->effect == EFFECT_SELECT ? "d" : "k", core);
            break;
        case 'N': text_string(text, "1"); break;
        case 'G': text_string(text, core); break;
        case 'F': text_string(text, sends == aic ? "c2v" : "v2c"); break;
        case 'A': text_string(text, "all"); break;
        case 'P':
        case 'B': text_string(text, "end"); break;
        case 'E': text_string(text, "early_wait mix early_set"); break;
        case 'S': text_string(text, "%a"); break;
        case 'V': text_string(text, "e"); break;
        case 'L': text_string(text, "lock %a"); break;
        default: text_bytes(text, p, size);
        }
        p += size + (p[size] == ' ');
    }
    text_char(text, '\n');
}

/* An entry in which checks are where they must be. */
static void put_checks(struct text *text)
{
    text_string(text, "entry @c : mix_aic_1_1 {block = 1} {\nargs [tracing]\n");
    for (int core = 0; core < CORE_TYPES; core++) {
        const char *name = core_type_name(core);
        text_printf(text,
                    "%s {\ncount_arrive %s\narrive %s\nawait %s\ncheck_await %s\n"
                    "count_set %s\nset %s\nwait %s\ncheck_wait %s\n}\n",
                    name, name, name, name, name, core == CORE_AIC ? "c2v" : "v2c",
                    core == CORE_AIC ? "c2v" : "v2c", core == CORE_AIC ? "v2c" : "c2v",
                    core == CORE_AIC ? "v2c" : "c2v");
    }
    text_string(text, "}\n");
}

/* Entries that have every instruction of the host, beside calls, on both core types. */
static struct text every_instr(void)
{
    struct text text = {NULL, 0, 0};
    text_string(&text,
                "skir 1\n"
                "kernel @k : mix_aic_1_1 {block = 1}\n"
                "kernel @d : mix_aic_1_1 {dynamic, variants = [{key = 0, type = mix_aic_1_1, "
                "aic = \"f\", aiv = \"g\"}]}\n"
                "entry @e : mix_aic_1_1 {block = 1, workspace = 128, split = 2}"
                " {\nargs %a = [tiling_key, block_num, lock, send e, recv e]\n"
                "args [sync_workspace]\nargs [profiling, profiling]\n");
    for (int core = 0; core < CORE_TYPES; core++) {
        const char *name = core_type_name(core);
        text_printf(&text, "%s {\n", name);
        for (int op = 0; op < INSTR_COUNT; op++) {
            if (!instr_info(op)->host || op == INSTR_check_await || op == INSTR_check_wait)
                continue;
            put_instr(&text, instr_info(INSTR_call), name);
            put_instr(&text, instr_info(op), name);
            if (instr_info(op)->effect == EFFECT_SELECT)
                text_printf(&text, "call @d.%s args %%a blocks 1\n", name);
        }
        text_string(&text, "}\n");
    }
    text_string(&text, "}\n");
    put_checks(&text);
    return text;
}

/* A function of the runtime that is not there, or has other parameters, is told by the compiler. */
static void test_host(void **state)
{
    (void)state;
    const char *source = getenv("SKIR_SOURCE");
    if (source == NULL)
        skip();
    struct text text = every_instr(), c = {NULL, 0, 0}, command = {NULL, 0, 0};
    struct parsed_module parsed;
    parsed_init(&parsed, text.at, text.size);
    assert_non_null(parsed.module);
    assert_true(verify_module(parsed.module, &parsed.diags));
    assert_true(host_emit(&c, parsed.module, &parsed.diags));
    text_printf(&command,
                "cc -std=gnu11 -Wall -Werror -fsyntax-only -I'%s/ir/core' "
                "-I'%s/backend/runtime' -x c -",
                source, source);
    text_char(&command, '\0');
    FILE *compiler = popen(command.at, "w");
    assert_non_null(compiler);
    assert_int_equal(fwrite(c.at, 1, c.size, compiler), c.size);
    assert_int_equal(pclose(compiler), 0);
    parsed_free(&parsed);
    text_free(&command);
    text_free(&c);
    text_free(&text);
}

static void test_spelling(void **state)
{
    (void)state;
    const char *await = instr_info(INSTR_await)->ascend, *set = instr_info(INSTR_set)->ascend;
    assert_true(expands(await, make(INSTR_await, CORE_AIC, 0, 0),
                        "wait_flag_dev(<wait_pipe>AscendC::SYNC_AIC_FLAG)"));
    assert_true(expands(await, make(INSTR_await, CORE_AIV, 0, 0),
                        "wait_flag_dev(<wait_pipe>AscendC::SYNC_AIV_ONLY_ALL)"));
    assert_true(expands(set, make(INSTR_set, CORE_AIV, 0, 0),
                        "ffts_cross_core_sync(PIPE_MTE3, "
                        "AscendC::GetffstMsg(0x02, AscendC::SYNC_AIV_FLAG))"));
    assert_true(expands(instr_info(INSTR_set)->host, make(INSTR_set, CORE_AIV, 0, 0),
                        "skrt_set_v2c(core, <site>)"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_expansion), cmocka_unit_test(test_wrong_templates),
        cmocka_unit_test(test_table),     cmocka_unit_test(test_host),
        cmocka_unit_test(test_spelling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
