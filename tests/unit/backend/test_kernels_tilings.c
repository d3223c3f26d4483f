/* Sample kernels with all tilings that they accept and random contents, most of which do not fit:
 * whatever operands hold, a kernel reads nothing outside a tensor, writes nothing outside one, and
 * leaves its operands as they are. */
#include "tests/unit/kernel_harness.h"

#include <signal.h>
#include <sys/mman.h>

#include "backend/kernels/nz.h"

/* The harness has a struct op of its own. */
#define op op_of_module
#include "ir/optypes/op_types.h"
#undef op

#include "tests/unit/accepted_ops.h"

enum { SLOTS = 48, SLOT_BYTES = 1 << 15, CANARY = 0x3c };

/* Memory that ends at a page that cannot be touched. */
static unsigned char *slots[SLOTS];
static size_t sizes[SLOTS];
static unsigned n_slots;

struct row {
    const char *name, *type;
    struct subject subject;
    bool updates; /* its operand 0 */
};

#define AIV_ONLY(kernel)                                                                           \
    {                                                                                              \
        NULL, kernel                                                                               \
    }
#define AIC_ONLY(kernel)                                                                           \
    {                                                                                              \
        kernel, NULL                                                                               \
    }
#define MIX_AIC_1_2(kernel)                                                                        \
    {                                                                                              \
        NULL, NULL                                                                                 \
    }
#define UPDATES_APART false
#define UPDATES_IN_PLACE false
#define UPDATES_UPDATE true

#define KERNEL(kernel, op_type, source, cores, ...) skrt_kernel_fn kernel;
#include "backend/kernels/sample_kernels.def"
#undef KERNEL

static const struct row rows[] = {
#define KERNEL(kernel, op_type, source, cores, blocks, memory, ...)                                \
    {#kernel, #op_type, cores(kernel), UPDATES_##memory},
#include "backend/kernels/sample_kernels.def"
#undef KERNEL
};

static unsigned below(unsigned n)
{
    return (unsigned)(random_bits() % n);
}

static void make_slots(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    for (unsigned i = 0; i < SLOTS; i++) {
        slots[i] = mmap(NULL, SLOT_BYTES + page, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(slots[i] != MAP_FAILED);
        assert_int_equal(mprotect(slots[i] + SLOT_BYTES, page, PROT_NONE), 0);
    }
}

/* So many bytes at the end of the next slot, with small numbers in them. */
static unsigned char *take_slot(size_t bytes)
{
    assert_true(n_slots < SLOTS && bytes <= SLOT_BYTES);
    unsigned char *slot = slots[n_slots], *data = slot + SLOT_BYTES - bytes;
    memset(slot, CANARY, SLOT_BYTES - bytes);
    for (size_t i = 0; i < bytes; i++)
        data[i] = (unsigned char)(below(4) == 0 ? below(256) : i % 4 == 0 ? below(4) : 0);
    sizes[n_slots++] = bytes;
    return data;
}

static unsigned char *take_tensor(const struct skrt_tensor *tensor)
{
    int64_t size = dtype_info((enum dtype)tensor->dtype)->bits / 8, n = 1;
    for (uint32_t i = 0; i < tensor->rank; i++)
        n *= tensor->dims[i];
    if (tensor->format == SKRT_FRACTAL_NZ)
        n = nz_elements(tensor->dims[0], tensor->dims[1], size);
    return take_slot((size_t)(n * size));
}

/* The tensors of a list, and its table. */
static unsigned char *take_list(const struct skrt_tensor *list)
{
    uint64_t words = 1;
    unsigned char *data[2];
    assert_true(list->count <= COUNT(data));
    for (uint64_t i = 0; i < list->count; i++) {
        data[i] = take_tensor(&list->list[i]);
        words += 2 + list->list[i].rank;
    }
    uint64_t *table = (uint64_t *)(void *)take_slot(words * sizeof *table), *word = table + 1;
    table[0] = (words - list->count) * sizeof *table;
    for (uint64_t i = 0; i < list->count; i++) {
        *word++ = i << 32 | list->list[i].rank;
        for (uint32_t d = 0; d < list->list[i].rank; d++)
            *word++ = (uint64_t)list->list[i].dims[d];
        table[words - list->count + i] = (uintptr_t)data[i];
    }
    return (unsigned char *)table;
}

/* Canaries are there, and everything up to the results' slots is as before. */
static void check_slots(const struct row *row, unsigned char *const *before, unsigned operands)
{
    for (unsigned i = 0; i < n_slots; i++) {
        for (size_t at = 0; at < SLOT_BYTES - sizes[i]; at++)
            if (slots[i][at] != CANARY)
                fail_msg("%s writes before a tensor", row->name);
        if (i < operands && !(row->updates && i == 0) &&
            memcmp(before[i], slots[i] + SLOT_BYTES - sizes[i], sizes[i]) != 0)
            fail_msg("%s writes its operand", row->name);
    }
}

/* The kernel that runs, for a crash. */
static const struct row *running;

static void name_crash(int signal)
{
    static const char text[] = " touches memory beside its tensors\n";
    (void)!write(STDERR_FILENO, running->name, strlen(running->name));
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    (void)signal;
    _exit(1);
}

static void run_random(const struct row *row, const struct op_type *type,
                       const struct op_text *text)
{
    running = row;
    struct op op = {0};
    unsigned char *before[SLOTS];
    n_slots = 0;
    for (unsigned i = 0; i < text->n_operands + text->n_results; i++) {
        const struct skrt_tensor tensor = op.tensors[i] = tensor_parse(text->tensors[i]);
        op.data[i] = tensor.form == SKRT_LIST     ? take_list(&tensor)
                     : tensor.form == SKRT_TENSOR ? take_tensor(&tensor)
                                                  : NULL;
        op.n_tensors++;
    }
    for (; op.n_attrs < TEXT_ATTRS && text->attrs[op.n_attrs] != NULL; op.n_attrs++) {
        assert_true(op.n_attrs < COUNT(op.attrs));
        op.attrs[op.n_attrs] = attr_parse(text->attrs[op.n_attrs]);
    }
    op.tiling_at = type->slots[type->n_operands].presence == OP_LISTED ? text->n_operands : 0;
    unsigned read = n_slots - text->n_results;
    for (unsigned i = 0; i < read; i++) {
        before[i] = malloc(sizes[i] + 1);
        assert_non_null(before[i]);
        memcpy(before[i], slots[i] + SLOT_BYTES - sizes[i], sizes[i]);
    }
    op_launch(&op, row->subject, 3);
    check_slots(row, before, read);
    for (unsigned i = 0; i < read; i++)
        free(before[i]);
}

/* All kernels of the type, by any of its names, that the harness can launch. */
static void run_type(const char *name, const struct op_text *text)
{
    const char *times = getenv("SKIR_TEST_COUNT");
    const struct op_type *type = op_types_find(known, name, strlen(name));
    for (unsigned i = 0; i < COUNT(rows); i++)
        if (strcmp(rows[i].type, type->real) == 0 && (rows[i].subject.aic || rows[i].subject.aiv))
            for (unsigned long n = times ? strtoul(times, NULL, 10) : 100; n > 0; n--)
                run_random(&rows[i], type, text);
}

static void test_tilings(void **state)
{
    (void)state;
    make_slots();
    signal(SIGSEGV, name_crash);
    signal(SIGFPE, name_crash);
    for (size_t i = 0; i < COUNT(accepted); i++)
        run_type(accepted[i].type, &accepted[i]);
    for (size_t i = 0; i < COUNT(families); i++)
        for (const char *const *type = families[i].types; *type != NULL; type++)
            run_type(*type, &families[i].op);
}

static int open_all(void **state)
{
    known = op_types_new();
    return suite_open(state);
}

static int close_all(void **state)
{
    op_types_free(known);
    return suite_close(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_tilings)};
    return cmocka_run_group_tests(tests, open_all, close_all);
}
