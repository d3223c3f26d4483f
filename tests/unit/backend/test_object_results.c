/* Whole results of links, as dumps: what becomes of each kind of section, symbol and relocation;
 * and answers to questions about objects. */
#include "tests/unit/object_harness.h"

static void expect_dump(const char *name, const char *expected)
{
    char error[256], *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);
    if (!object_dump(path_of(name), out, error, sizeof error))
        fail_msg("%s", error);
    fclose(out);
    assert_string_equal(text, expected);
    free(text);
}

static void write_result(struct object_link *link, const char *name)
{
    assert_ok(link, write_link(link, name));
    object_link_free(link);
}

/* ---- results ---- */

/* Definitions and mentions of every binding and visibility, in sections of every kind, twice. */
static const char first_source[] =
    ".file \"first.c\"\n.text\n.balign 16\n.globl f\n.type f,@function\n"
    "f: call g@PLT\n.Lhere: call helper\n lea .Lhere(%rip),%rax\n movl $absolute,%ecx\n ret\n"
    ".size f,.-f\n.hidden g\n.weak maybe\n"
    ".type helper,@function\nhelper: ret\n.size helper,.-helper\n"
    ".set absolute,0x40\n"
    ".section .text.hot,\"ax\",@progbits\nhot: jmp f\n"
    ".data\n.balign 8\n.globl table\n.type table,@object\ntable: .quad f+1, hot, maybe, text+2\n"
    ".size table,.-table\n"
    ".section .rodata.str1.1,\"aMS\",@progbits,1\n.asciz \"a\"\ntext: .asciz \"bcd\"\n"
    ".section .tdata,\"awT\",@progbits\n.globl thread\n.type thread,@object\nthread: .long 3\n"
    ".bss\n.local zeros\nzeros: .zero 24\n.comm common,8,8\n.tls_common tls_common,16,8\n"
    ".section .init_array,\"aw\",@init_array\n.balign 8\n.quad f\n"
    ".section .note.x,\"a\",@note\n.long 4, 0, 1\n.asciz \"abc\"\n"
    ".section .comment,\"MS\",@progbits,1\n.asciz \"made\"\n"
    ".section .note.GNU-stack,\"\",@progbits\n";

static const char second_source[] =
    ".text\n.globl g\n.type g,@function\ng: call f@PLT\n ret\n.size g,.-g\n.protected g\n"
    ".weak weakly\nweakly: ret\n"
    ".section .text.hot,\"ax\",@progbits\n.balign 8\nhot: call outside@PLT\n"
    ".data\n.byte 1\n.balign 8\n.quad common, thread2, table-8, hot+1, zeros+4\n"
    ".section .tdata,\"awT\",@progbits\n.type thread2,@object\nthread2: .long 4\n"
    ".bss\n.balign 32\nzeros: .zero 8\n.comm common,40,16\n.tls_common tls_common,4,32\n"
    ".section .init_array,\"aw\",@init_array\n.balign 8\n.quad g\n"
    ".section .comment,\"MS\",@progbits,1\n.asciz \"made\"\n"
    ".section .note.GNU-stack,\"\",@progbits\n";

static const char one_group[] = "x86_64 relocatable, 18 sections\n"
                                "\n"
                                "sections: index name type flags size align\n"
                                "  1 .text progbits AX 0x1f 16\n"
                                "  2 .data progbits WA 0x50 8\n"
                                "  3 .bss nobits WA 0x58 32\n"
                                "  4 .text.hot progbits AX 0xd 8\n"
                                "  5 .rodata.str1.1 progbits AMS 0x6 1\n"
                                "  6 .tdata progbits WAT 0x8 1\n"
                                "  7 .init_array init_array WA 0x10 8\n"
                                "  8 .note.x note A 0x10 1\n"
                                "  9 .comment progbits MS 0xa 1\n"
                                "  10 .tbss nobits WAT 0x10 32\n"
                                "  11 .note.GNU-stack progbits - 0x0 1\n"
                                "  12 .rela.text rela I 0x30 8\n"
                                "  13 .rela.data rela I 0xd8 8\n"
                                "  14 .rela.text.hot rela I 0x30 8\n"
                                "  15 .rela.init_array rela I 0x30 8\n"
                                "  16 .symtab symtab - 0x2d0 8\n"
                                "  17 .strtab strtab - 0x6c 1\n"
                                "  18 .shstrtab strtab - 0xb5 1\n"
                                "\n"
                                "symbols: name binding type section value size\n"
                                "  .text local section .text 0x0 0\n"
                                "  .data local section .data 0x0 0\n"
                                "  .bss local section .bss 0x0 0\n"
                                "  .text.hot local section .text.hot 0x0 0\n"
                                "  .rodata.str1.1 local section .rodata.str1.1 0x0 0\n"
                                "  .tdata local section .tdata 0x0 0\n"
                                "  .init_array local section .init_array 0x0 0\n"
                                "  .note.x local section .note.x 0x0 0\n"
                                "  .comment local section .comment 0x0 0\n"
                                "  .tbss local section .tbss 0x0 0\n"
                                "  .note.GNU-stack local section .note.GNU-stack 0x0 0\n"
                                "  first.c local file absolute 0x0 0\n"
                                "  helper local func .text 0x17 1\n"
                                "  absolute local notype absolute 0x40 0\n"
                                "  hot local notype .text.hot 0x0 0\n"
                                "  text local notype .rodata.str1.1 0x2 0\n"
                                "  zeros local notype .bss 0x0 0\n"
                                "  table local object .data 0x0 32\n"
                                "  thread local tls .tdata 0x0 0\n"
                                "  tls_common local tls .tbss 0x0 16\n"
                                "  hot local notype .text.hot 0x8 0\n"
                                "  thread2 local tls .tdata 0x4 0\n"
                                "  zeros local notype .bss 0x20 0\n"
                                "  g local func .text 0x18 6\n"
                                "  entry global func .text 0x0 23\n"
                                "  common global object .bss 0x30 40\n"
                                "  weakly weak notype .text 0x1e 0\n"
                                "  maybe weak notype undefined 0x0 0\n"
                                "  outside global notype undefined 0x0 0\n"
                                "\n"
                                "relocations: section+offset type symbol addend\n"
                                "  .text+0x1 R_X86_64_PLT32 g -0x4\n"
                                "  .text+0x19 R_X86_64_PLT32 entry -0x4\n"
                                "  .data+0x0 R_X86_64_64 entry 0x1\n"
                                "  .data+0x8 R_X86_64_64 .text.hot 0x0\n"
                                "  .data+0x10 R_X86_64_64 maybe 0x0\n"
                                "  .data+0x18 R_X86_64_64 text 0x2\n"
                                "  .data+0x28 R_X86_64_64 common 0x0\n"
                                "  .data+0x30 R_X86_64_64 thread2 0x0\n"
                                "  .data+0x38 R_X86_64_64 table -0x8\n"
                                "  .data+0x40 R_X86_64_64 .text.hot 0x9\n"
                                "  .data+0x48 R_X86_64_64 .bss 0x24\n"
                                "  .text.hot+0x1 R_X86_64_PLT32 entry -0x4\n"
                                "  .text.hot+0x9 R_X86_64_PLT32 outside -0x4\n"
                                "  .init_array+0x0 R_X86_64_64 entry 0x0\n"
                                "  .init_array+0x8 R_X86_64_64 g 0x0\n";

static void test_one_group(void **state)
{
    (void)state;
    compile_with("cc -Wa,-W", "first", "s", first_source);
    compile_with("cc -Wa,-W", "second", "s", second_source);
    struct object_link *link = link_pair("first.o", "second.o");
    export(link, 0, "f", "entry");
    export(link, 0, "weakly", "weakly");
    export(link, 0, "common", "common");
    assert_ok(link, object_link_keep(link, "weakly"));
    assert_ok(link, object_link_keep(link, "common"));
    finish(link, "entry", "one.o");
    expect_dump("one.o", one_group);
}

static const char two_groups[] = "x86_64 relocatable, 18 sections\n"
                                 "\n"
                                 "sections: index name type flags size align\n"
                                 "  1 .text progbits AX 0x1f 16\n"
                                 "  2 .data progbits WA 0x50 8\n"
                                 "  3 .bss nobits WA 0x58 32\n"
                                 "  4 .text.hot progbits AX 0xd 8\n"
                                 "  5 .rodata.str1.1 progbits AMS 0x6 1\n"
                                 "  6 .tdata progbits WAT 0x8 1\n"
                                 "  7 .init_array init_array WA 0x10 8\n"
                                 "  8 .note.x note A 0x10 1\n"
                                 "  9 .comment progbits MS 0xa 1\n"
                                 "  10 .tbss nobits WAT 0x24 32\n"
                                 "  11 .note.GNU-stack progbits - 0x0 1\n"
                                 "  12 .rela.text rela I 0x30 8\n"
                                 "  13 .rela.data rela I 0xd8 8\n"
                                 "  14 .rela.text.hot rela I 0x30 8\n"
                                 "  15 .rela.init_array rela I 0x30 8\n"
                                 "  16 .symtab symtab - 0x330 8\n"
                                 "  17 .strtab strtab - 0x68 1\n"
                                 "  18 .shstrtab strtab - 0xb5 1\n"
                                 "\n"
                                 "symbols: name binding type section value size\n"
                                 "  .text local section .text 0x0 0\n"
                                 "  .data local section .data 0x0 0\n"
                                 "  .bss local section .bss 0x0 0\n"
                                 "  .text.hot local section .text.hot 0x0 0\n"
                                 "  .rodata.str1.1 local section .rodata.str1.1 0x0 0\n"
                                 "  .tdata local section .tdata 0x0 0\n"
                                 "  .init_array local section .init_array 0x0 0\n"
                                 "  .note.x local section .note.x 0x0 0\n"
                                 "  .comment local section .comment 0x0 0\n"
                                 "  .tbss local section .tbss 0x0 0\n"
                                 "  .note.GNU-stack local section .note.GNU-stack 0x0 0\n"
                                 "  first.c local file absolute 0x0 0\n"
                                 "  helper local func .text 0x17 1\n"
                                 "  absolute local notype absolute 0x40 0\n"
                                 "  hot local notype .text.hot 0x0 0\n"
                                 "  text local notype .rodata.str1.1 0x2 0\n"
                                 "  zeros local notype .bss 0x0 0\n"
                                 "  f local func .text 0x0 23\n"
                                 "  table local object .data 0x0 32\n"
                                 "  thread local tls .tdata 0x0 0\n"
                                 "  common local object .bss 0x28 8\n"
                                 "  tls_common local tls .tbss 0x0 16\n"
                                 "  hot local notype .text.hot 0x8 0\n"
                                 "  thread2 local tls .tdata 0x4 0\n"
                                 "  zeros local notype .bss 0x20 0\n"
                                 "  g local func .text 0x18 6\n"
                                 "  weakly local notype .text 0x1e 0\n"
                                 "  common local object .bss 0x30 40\n"
                                 "  tls_common local tls .tbss 0x20 4\n"
                                 "  maybe weak notype undefined 0x0 0\n"
                                 "  f global notype undefined 0x0 0\n"
                                 "  outside global notype undefined 0x0 0\n"
                                 "  table global notype undefined 0x0 0\n"
                                 "\n"
                                 "relocations: section+offset type symbol addend\n"
                                 "  .text+0x1 R_X86_64_PLT32 g -0x4\n"
                                 "  .text+0x19 R_X86_64_PLT32 f -0x4\n"
                                 "  .data+0x0 R_X86_64_64 f 0x1\n"
                                 "  .data+0x8 R_X86_64_64 .text.hot 0x0\n"
                                 "  .data+0x10 R_X86_64_64 maybe 0x0\n"
                                 "  .data+0x18 R_X86_64_64 text 0x2\n"
                                 "  .data+0x28 R_X86_64_64 common 0x0\n"
                                 "  .data+0x30 R_X86_64_64 thread2 0x0\n"
                                 "  .data+0x38 R_X86_64_64 table -0x8\n"
                                 "  .data+0x40 R_X86_64_64 .text.hot 0x9\n"
                                 "  .data+0x48 R_X86_64_64 .bss 0x24\n"
                                 "  .text.hot+0x1 R_X86_64_PLT32 f -0x4\n"
                                 "  .text.hot+0x9 R_X86_64_PLT32 outside -0x4\n"
                                 "  .init_array+0x0 R_X86_64_64 f 0x0\n"
                                 "  .init_array+0x8 R_X86_64_64 g 0x0\n";

/* Apart, each has definitions of its own, and mentions of the other's stay open. */
static void test_two_groups(void **state)
{
    (void)state;
    struct object_link *link = object_link_new();
    add(link, 0, "first.o");
    add(link, 1, "second.o");
    export(link, 1, "g", "g");
    write_result(link, "two.o");
    expect_dump("two.o", two_groups);
}

/* ---- copies ---- */

/* A copy has code of its own, and what is read-only and refers to code; all else is one. */
static const char copied_source[] =
    ".text\n.globl run\n.type run,@function\nrun: jmp *jumps(%rip)\n.Lcase: call outer@PLT\n"
    " mov counter(%rip),%eax\n mov constant(%rip),%eax\n ret\n.size run,.-run\n"
    ".globl other\n.type other,@function\nother: jmp run\n.size other,.-other\n"
    ".section .init,\"ax\",@progbits\nnop\n"
    ".section .rodata.jumps,\"a\",@progbits\njumps: .quad .Lcase\n"
    ".section .rodata.plain,\"a\",@progbits\nconstant: .long 5\n"
    ".section .text.b,\"ax\",@progbits\nb: ret\n.section .order,\"ao\",@progbits,.text.b\n.byte 1\n"
    ".data\n.globl counter\n.type counter,@object\ncounter: .long 0\n.size counter,4\n"
    "pointer: .quad .Lcase\n"
    ".section .writable,\"awx\",@progbits\n.quad run\n";

static const char copies[] = "x86_64 relocatable, 16 sections\n"
                             "\n"
                             "sections: index name type flags size align\n"
                             "  1 .text progbits AX 0x4e 1\n"
                             "  2 .data progbits WA 0xc 1\n"
                             "  3 .bss nobits WA 0x0 1\n"
                             "  4 .init progbits AX 0x1 1\n"
                             "  5 .rodata.jumps progbits A 0x18 1\n"
                             "  6 .rodata.plain progbits A 0x4 1\n"
                             "  7 .text.b progbits AX 0x3 1\n"
                             "  8 .writable progbits WAX 0x8 1\n"
                             "  9 .order progbits AL 0x3 1\n"
                             "  10 .rela.text rela I 0x120 8\n"
                             "  11 .rela.data rela I 0x18 8\n"
                             "  12 .rela.rodata.jumps rela I 0x48 8\n"
                             "  13 .rela.writable rela I 0x18 8\n"
                             "  14 .symtab symtab - 0x270 8\n"
                             "  15 .strtab strtab - 0x40 1\n"
                             "  16 .shstrtab strtab - 0x9f 1\n"
                             "\n"
                             "symbols: name binding type section value size\n"
                             "  .text local section .text 0x0 0\n"
                             "  .data local section .data 0x0 0\n"
                             "  .bss local section .bss 0x0 0\n"
                             "  .init local section .init 0x0 0\n"
                             "  .rodata.jumps local section .rodata.jumps 0x0 0\n"
                             "  .rodata.plain local section .rodata.plain 0x0 0\n"
                             "  .text.b local section .text.b 0x0 0\n"
                             "  .writable local section .writable 0x0 0\n"
                             "  .order local section .order 0x0 0\n"
                             "  jumps local notype .rodata.jumps 0x0 0\n"
                             "  constant local notype .rodata.plain 0x0 0\n"
                             "  b local notype .text.b 0x0 0\n"
                             "  pointer local notype .data 0x4 0\n"
                             "  counter local object .data 0x0 4\n"
                             "  other local func .text 0x18 2\n"
                             "  jumps local notype .rodata.jumps 0x8 0\n"
                             "  b local notype .text.b 0x1 0\n"
                             "  other local func .text 0x32 2\n"
                             "  jumps local notype .rodata.jumps 0x10 0\n"
                             "  b local notype .text.b 0x2 0\n"
                             "  run local func .text 0x34 24\n"
                             "  run global func .text 0x0 24\n"
                             "  run_1 global func .text 0x1a 24\n"
                             "  other_2 global func .text 0x4c 2\n"
                             "  outer global notype undefined 0x0 0\n"
                             "\n"
                             "relocations: section+offset type symbol addend\n"
                             "  .text+0x2 R_X86_64_PC32 .rodata.jumps -0x4\n"
                             "  .text+0x7 R_X86_64_PLT32 outer -0x4\n"
                             "  .text+0xd R_X86_64_PC32 counter -0x4\n"
                             "  .text+0x13 R_X86_64_PC32 .rodata.plain -0x4\n"
                             "  .text+0x1c R_X86_64_PC32 .rodata.jumps 0x4\n"
                             "  .text+0x21 R_X86_64_PLT32 outer -0x4\n"
                             "  .text+0x27 R_X86_64_PC32 counter -0x4\n"
                             "  .text+0x2d R_X86_64_PC32 .rodata.plain -0x4\n"
                             "  .text+0x36 R_X86_64_PC32 .rodata.jumps 0xc\n"
                             "  .text+0x3b R_X86_64_PLT32 outer -0x4\n"
                             "  .text+0x41 R_X86_64_PC32 counter -0x4\n"
                             "  .text+0x47 R_X86_64_PC32 .rodata.plain -0x4\n"
                             "  .data+0x4 R_X86_64_64 .text 0x6\n"
                             "  .rodata.jumps+0x0 R_X86_64_64 .text 0x6\n"
                             "  .rodata.jumps+0x8 R_X86_64_64 .text 0x20\n"
                             "  .rodata.jumps+0x10 R_X86_64_64 .text 0x3a\n"
                             "  .writable+0x0 R_X86_64_64 run 0x0\n";

static void test_copies(void **state)
{
    (void)state;
    assemble("copied", copied_source);
    struct object_link *link = object_link_new();
    add(link, 0, "copied.o");
    assert_ok(link, object_link_copy(link, 0, 1));
    assert_ok(link, object_link_copy(link, 0, 2));
    export(link, 0, "run", "run");
    export(link, 1, "run", "run_1");
    export(link, 2, "other", "other_2");
    assert_ok(link, object_link_keep(link, "run"));
    assert_ok(link, object_link_keep(link, "other_2"));
    finish(link, "run_1", "copies.o");
    expect_dump("copies.o", copies);
}

static void refuse_copy(unsigned from, unsigned to, const char *text)
{
    struct object_link *link = link_pair("copied.o", NULL);
    assert_ok(link, object_link_copy(link, 0, 1));
    assert_false(object_link_copy(link, from, to));
    fails_with(link, text, NULL);
}

static void test_wrong_copies(void **state)
{
    (void)state;
    refuse_copy(1, 2, "group 1 cannot be copied to group 2"); /* a copy itself */
    refuse_copy(5, 2, "group 5 cannot be copied to group 2"); /* empty */
    refuse_copy(0, 1, "group 0 cannot be copied to group 1"); /* not empty */
    struct object_link *link = link_pair("copied.o", NULL);
    assert_ok(link, object_link_copy(link, 0, 1));
    assert_false(object_link_add_file(link, 1, path_of("copied.o")));
    fails_with(link, "copied.o cannot be added to a copy of a group", NULL);
}

/* ---- headers ---- */

/* Writes an object with these in its ELF header. */
static void patch_header(const char *from, const char *to, uint32_t version, uint32_t flags,
                         unsigned char abi)
{
    size_t size;
    unsigned char *bytes = read_bytes(from, &size);
    Elf64_Ehdr header;
    memcpy(&header, bytes, sizeof header);
    header.e_version = version;
    header.e_flags = flags;
    header.e_ident[EI_OSABI] = abi;
    header.e_ident[EI_ABIVERSION] = abi ? 2 : 0;
    memcpy(bytes, &header, sizeof header);
    write_bytes(to, bytes, size);
    free(bytes);
}

static void expect_header(const char *first, const char *second, uint32_t version, uint32_t flags)
{
    struct keeper keeper;
    write_result(link_pair(first, second), "header.o");
    read_back(&keeper, "header.o");
    assert_int_equal(keeper.input->version, version);
    assert_int_equal(keeper.input->flags, flags);
    arena_free(&keeper.arena.memory);
    write_result(link_pair(second, first), "header.o");
    read_back(&keeper, "header.o");
    assert_int_equal(keeper.input->version, version);
    arena_free(&keeper.arena.memory);
}

/* Of stacks, which NPU objects have in the version, the largest is taken. */
static void test_headers(void **state)
{
    (void)state;
    assemble("h1", "a: ret\n");
    assemble("h2", "b: ret\n");
    patch_header("h1.o", "plain.o", EV_CURRENT, 0, 0);
    patch_header("h2.o", "small.o", 0x5a5a0002, 0, 0);
    patch_header("h2.o", "large.o", 0x5a5a0003, 0, 0);
    patch_header("h2.o", "magic.o", 0x5a5b0003, 0, 0);
    expect_header("plain.o", "plain.o", EV_CURRENT, 0);
    expect_header("plain.o", "small.o", 0x5a5a0002, 0);
    expect_header("small.o", "large.o", 0x5a5a0003, 0);
    expect_header("plain.o", "magic.o", EV_CURRENT, 0);
    patch_header("h1.o", "flags1.o", EV_CURRENT, 7, ELFOSABI_STANDALONE);
    patch_header("h2.o", "flags2.o", EV_CURRENT, 7, ELFOSABI_STANDALONE);
    expect_header("flags1.o", "flags2.o", EV_CURRENT, 7);
    struct keeper keeper;
    read_back(&keeper, "header.o");
    assert_int_equal(keeper.input->abi, ELFOSABI_STANDALONE);
    assert_int_equal(keeper.input->abi_version, 2);
    arena_free(&keeper.arena.memory);
    refuse("flags1.o", "plain.o", "plain.o", "flags1.o");
}

/* ---- what can be there once only ---- */

static void test_singular(void **state)
{
    (void)state;
    assemble("same1", ".section .gnu.attributes,\"\",@0x6ffffff5\n.byte 1, 2\n");
    assemble("same2", ".section .gnu.attributes,\"\",@0x6ffffff5\n.byte 1, 2\n");
    assemble("byte", ".section .gnu.attributes,\"\",@0x6ffffff5\n.byte 1, 3\n");
    assemble("long", ".section .gnu.attributes,\"\",@0x6ffffff5\n.byte 1, 2, 3\n");
    assemble("moved", ".section .gnu.attributes,\"\",@0x6ffffff5\n.byte 1, 2\n"
                      ".reloc 0, R_X86_64_8, f\n");
    struct keeper keeper;
    write_result(link_pair("same1.o", "same2.o"), "single.o");
    read_back(&keeper, "single.o");
    assert_int_equal(section_named(&keeper, ".gnu.attributes")->size, 2);
    arena_free(&keeper.arena.memory);
    static const char *const others[] = {"byte", "long", "moved"};
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        char file[16];
        snprintf(file, sizeof file, "%s.o", others[i]);
        refuse("same1.o", file, "section '.gnu.attributes' differs from that of the inputs before",
               file);
        refuse(file, "same1.o", "section '.gnu.attributes' differs from that of the inputs before",
               "same1.o");
    }
}

/* ---- frames ---- */

static void refuse_frame(const char *records, const char *text)
{
    char source[256];
    snprintf(source, sizeof source, ".section .eh_frame,\"a\",@progbits\n%s\n", records);
    assemble("frame", source);
    refuse("frame.o", NULL, text, "frame.o: section '.eh_frame' ");
}

static void test_frames(void **state)
{
    (void)state;
    static const char cie[] = ".long 8, 0\n.byte 1, 0, 1, 0x78\n";
    char text[128];
    refuse_frame(".byte 1, 2, 3", "has an incomplete record at offset 0");
    refuse_frame(".long 8, 0, 0\n.byte 1, 2", "has an incomplete record at offset 12");
    refuse_frame(".long -1, 0, 0, 0, 0",
                 "has a 64-bit record, which is not supported, at offset 0");
    refuse_frame(".long 3, 0", "has a record of a bad length at offset 0");
    refuse_frame(".long 5, 0", "has a record of a bad length at offset 0");
    refuse_frame(".long 0, 0", "ends before its last record at offset 0");
    refuse_frame(".long 8, 1, 0", "has a record without a CIE at offset 0");
    refuse_frame(".long 8, 4, 0", "has a record without a CIE at offset 0");
    snprintf(text, sizeof text, "%s.long 8, 12, 0\n", cie);
    refuse_frame(text, "has a record without a CIE at offset 12");
    snprintf(text, sizeof text, "%s.long 8, 16, 0\n.long 8, 16, 0", cie);
    refuse_frame(text, "has a record without a CIE at offset 24");
    snprintf(text, sizeof text, "%s.long 0\n.byte 0", cie);
    refuse_frame(text, "ends before its last record at offset 12");
    snprintf(text, sizeof text, "%s.long 4, 16\n.long 0", cie);
    char source[256];
    snprintf(source, sizeof source, ".section .eh_frame,\"a\",@progbits\n%s\n", text);
    assemble("frame", source);
    write_result(link_pair("frame.o", NULL), "framed.o");
}

/* An archive whose last member has an odd size ends in a byte of padding. */
static void test_odd_member(void **state)
{
    (void)state;
    assemble("odd", "a: ret\n");
    assert_int_equal(shell("printf x >>odd.o && rm -f odd.a && ar rcD odd.a odd.o"), 0);
    write_result(link_pair("odd.a", NULL), "even.o");
}

/* ---- names that are not defined ---- */

static void note_undefined(void *user, unsigned group, const char *name)
{
    char *text = user;
    sprintf(text + strlen(text), "%u:%s ", group, name);
}

static void test_undefined(void **state)
{
    (void)state;
    char text[256] = "";
    assemble("needs", ".globl f\nf: call one@PLT\n call two@PLT\n call weak@PLT\n call f2@PLT\n"
                      ".weak weak\n");
    assemble("gives", ".globl f2\nf2: call one@PLT\n call three@PLT\n call f@PLT\n"
                      ".globl two\ntwo: ret\n");
    struct object_link *link = object_link_new();
    add(link, 3, "needs.o");
    add(link, 4, "gives.o");
    export(link, 4, "f2", "f2");
    assert_true(object_link_undefined(link, note_undefined, text));
    assert_string_equal(text, "3:one 3:two 4:three 4:f ");
    assert_false(object_link_keep(link, "absent") && write_link(link, "no.o"));
    text[0] = '\0';
    assert_false(object_link_undefined(link, note_undefined, text));
    assert_string_equal(text, "");
    fails_with(link, "'absent' is to be kept global, but is not exported", NULL);
}

/* ---- questions ---- */

static void expect_relocations(const char *name, uint64_t expected, const char *first)
{
    char error[256], symbol[32] = "x";
    uint64_t count;
    assert_true(
        object_code_relocations(path_of(name), &count, symbol, sizeof symbol, error, sizeof error));
    assert_int_equal(count, expected);
    assert_string_equal(symbol, first);
}

static void test_code_relocations(void **state)
{
    (void)state;
    assemble("none", ".globl f\nf: ret\n.data\n.quad g\n");
    assemble("three", ".globl g\ng: call one@PLT\n call two@PLT\n.data\n.quad g\n"
                      ".section .text.b,\"ax\",@progbits\n call three@PLT\n");
    expect_relocations("none.o", 0, "");
    expect_relocations("three.o", 3, "one");
    assert_int_equal(shell("rm -f both.a && ar rcD both.a none.o three.o && "
                           "cc -shared -nostdlib -o both.so both.a three.o"),
                     0);
    expect_relocations("both.a", 3, "one");
    expect_relocations("both.so", 0, ""); /* finished by a linker */
    char error[256], symbol[32];
    uint64_t count;
    write_bytes("short.o", "\177ELF", 4);
    assert_false(object_code_relocations(path_of("short.o"), &count, symbol, sizeof symbol, error,
                                         sizeof error));
    write_bytes("text.o", "no object, but long enough to have a header of ELF all the same", 64);
    assert_false(object_code_relocations(path_of("text.o"), &count, symbol, sizeof symbol, error,
                                         sizeof error));
    assert_false(object_code_relocations(path_of("absent.o"), &count, symbol, sizeof symbol, error,
                                         sizeof error));
    assert_non_null(strstr(error, "absent.o"));
}

static void note_name(void *user, const char *name, uint64_t section_size)
{
    assert_true(section_size > 0);
    sprintf((char *)user + strlen(user), "%s ", name);
}

static void test_definitions(void **state)
{
    (void)state;
    assemble("defines", ".globl typed\n.type typed,@function\ntyped: call away@PLT\n"
                        ".globl untyped\nuntyped: ret\n.weak weak\nweak: ret\nlocal: ret\n"
                        ".globl object\n.type object,@object\nobject: ret\n"
                        ".globl indirect\n.type indirect,@gnu_indirect_function\nindirect: ret\n"
                        ".data\n.globl in_data\nin_data: .long 1\n"
                        ".globl typed_data\n.type typed_data,@function\ntyped_data: .long 2\n");
    char names[256] = "";
    struct object_file *file = object_file_read(path_of("defines.o"));
    object_file_functions(file, note_name, names);
    object_file_free(file);
    assert_string_equal(names, "typed untyped weak indirect typed_data ");
}

static void note_code(void *user, const char *name, uint64_t address, uint64_t size)
{
    char *text = user;
    sprintf(text + strlen(text), "%s:%u+%u ", name, (unsigned)address, (unsigned)size);
}

static void test_code(void **state)
{
    (void)state;
    char text[256] = "";
    assemble("code", ".text\n.type a,@function\na: ret\n.size a,1\n"
                     ".type d,@function\n.set d,away\n"
                     ".data\n.type e,@function\ne: .byte 1\n.size e,1\n"
                     ".section .text.b,\"ax\",@progbits\n.balign 8\n nop\n"
                     ".globl b\n.type b,@function\nb: ret\nret\n.size b,2\n"
                     ".section .text.c,\"ax\",@progbits\n"
                     ".type c,@function\nc: ret\n.size c,1\nno_type: ret\n");
    struct object_file *file = object_file_read(path_of("code.o"));
    object_file_code(file, note_code, text);
    object_file_free(file);
    assert_string_equal(text, "a:0+1 c:11+1 b:9+2 ");
}

int main(void)
{
    /* Later tests read files that earlier ones made. */
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_group),   cmocka_unit_test(test_two_groups),
        cmocka_unit_test(test_copies),      cmocka_unit_test(test_wrong_copies),
        cmocka_unit_test(test_headers),     cmocka_unit_test(test_singular),
        cmocka_unit_test(test_frames),      cmocka_unit_test(test_odd_member),
        cmocka_unit_test(test_undefined),   cmocka_unit_test(test_code_relocations),
        cmocka_unit_test(test_definitions), cmocka_unit_test(test_code),
    };
    return cmocka_run_group_tests_name("object_results", tests, make_folder, remove_folder);
}
