/* Sample kernels with random tilings, most of which do not fit: whatever these say, a kernel reads
 * nothing behind a tensor, writes nothing beside one, and leaves its operands as they are. */
#include "tests/unit/kernel_harness.h"

#include <signal.h>
#include <sys/mman.h>

#include "backend/kernels/sample_ops.h"

/* The harness has a struct op of its own. */
#define op op_of_module
#include "ir/optypes/op_types.h"
#undef op

enum { SLOTS = 48, SLOT_BYTES = 1 << 15, MOST_DIM = 5, MOST_RANK = 4, CANARY = 0x3c };

/* Memory that ends at a page that cannot be touched. */
static unsigned char *slots[SLOTS];
static size_t sizes[SLOTS];
static unsigned n_slots;

static struct op_types *known;

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

static struct skrt_tensor random_tensor(const struct skrt_tensor *like)
{
    static const uint32_t dtypes[] = {SKRT_f32, SKRT_f16, SKRT_bf16, SKRT_i8,  SKRT_i32,
                                      SKRT_i64, SKRT_u8,  SKRT_bool, SKRT_i16, SKRT_u64};
    struct skrt_tensor tensor = {.dtype = dtypes[below(COUNT(dtypes))],
                                 .rank = below(MOST_RANK + 1)};
    for (uint32_t i = 0; i < tensor.rank; i++)
        tensor.dims[i] = below(MOST_DIM + 1);
    if (like != NULL && below(4) > 0) {
        uint32_t dtype = below(3) > 0 ? like->dtype : tensor.dtype;
        tensor = *like;
        tensor.dtype = dtype;
        if (below(3) == 0 && tensor.rank > 0)
            tensor.dims[below(tensor.rank)] = below(MOST_DIM + 1);
        if (below(4) == 0 && tensor.rank > 0)
            tensor.rank--;
    }
    return tensor;
}

static size_t tensor_bytes(const struct skrt_tensor *tensor)
{
    size_t n = tensor->dtype == SKRT_u64 ? 8 : dtype_size(tensor->dtype);
    for (uint32_t i = 0; i < tensor->rank; i++)
        n *= (size_t)tensor->dims[i];
    return n;
}

/* Adds a list of up to three tensors; `parts` has room for them. */
static unsigned char *add_list(struct skrt_tensor *list, struct skrt_tensor *parts,
                               const struct skrt_tensor *like)
{
    uint32_t count = below(4), words = 1;
    unsigned char *data[3];
    for (uint32_t i = 0; i < count; i++) {
        parts[i] = random_tensor(like);
        data[i] = take_slot(tensor_bytes(&parts[i]));
        words += 2 + parts[i].rank;
    }
    uint64_t *table = (uint64_t *)(void *)take_slot(words * sizeof *table), *word = table + 1;
    table[0] = (words - count) * sizeof *table;
    for (uint32_t i = 0; i < count; i++) {
        *word++ = (uint64_t)i << 32 | parts[i].rank;
        for (uint32_t d = 0; d < parts[i].rank; d++)
            *word++ = (uint64_t)parts[i].dims[d];
        table[words - count + i] = (uintptr_t)data[i];
    }
    *list = (struct skrt_tensor){.form = SKRT_LIST, .count = count, .list = parts};
    return (unsigned char *)table;
}

static void add_attrs(struct op *op, const struct row *row)
{
    static const int64_t ints[][3] = {{0, 1, 2}, {1, 0, 2}, {-1, 0, 1}, {2, 2, 1}, {3, 9, -9}};
    static const char *const texts[] = {"BSH", "SBH", "BNSD", "BSND", "floor", ""};
    for (const char *const *name = sample_op_attrs(known, row->type); *name != NULL; name++) {
        if (below(3) == 0 || op->n_attrs == COUNT(op->attrs))
            continue;
        op_add_attr(op, *name, (double)below(6) - 2);
        struct skrt_attr *attr = &op->attrs[op->n_attrs - 1];
        enum sample_attr kind = sample_op_attr_kind(known, row->type, *name);
        if (kind == SAMPLE_TEXT)
            attr->text = texts[below(COUNT(texts))];
        if (kind == SAMPLE_INTS) {
            attr->ints = ints[below(COUNT(ints))];
            attr->count = below(4);
        }
    }
}

/* Tensors as the type has them, but of any shape. */
static unsigned add_tensors(struct op *op, const struct row *row, struct skrt_tensor (*parts)[3])
{
    const struct op_type *type = op_types_find(known, row->type, strlen(row->type));
    unsigned operands, results, lists = 0;
    assert_true(sample_op_arity(known, row->type, &operands, &results));
    bool many = results == 1 && type->slots[type->n_operands].presence == OP_LISTED;
    if (many) {
        results = 1 + below(3);
        op->tiling_at = operands;
    }
    const struct skrt_tensor *like = NULL;
    for (unsigned i = 0; i < operands + results; i++) {
        struct skrt_tensor *tensor = &op->tensors[op->n_tensors];
        unsigned slot = i < operands ? i
                        : many       ? type->n_operands
                                     : i - operands + type->n_operands;
        enum op_presence presence = type->slots[slot].presence;
        bool absent = i < operands && presence == OP_OPTIONAL && below(3) > 0;
        if (i < operands && presence == OP_LISTED) {
            op->data[op->n_tensors] = add_list(tensor, parts[lists++], like);
        } else {
            *tensor = random_tensor(like);
            op->data[op->n_tensors] = take_slot(absent ? 0 : tensor_bytes(tensor));
            tensor->form = absent ? SKRT_ABSENT : SKRT_TENSOR;
        }
        like = like != NULL ? like : tensor->form == SKRT_TENSOR ? tensor : NULL;
        if (like == NULL && tensor->form == SKRT_LIST && tensor->count > 0)
            like = &tensor->list[0];
        op->n_tensors++;
    }
    return operands;
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

static void run_random(const struct row *row)
{
    running = row;
    struct op op = {0};
    struct skrt_tensor parts[12][3];
    unsigned char *before[SLOTS];
    n_slots = 0;
    unsigned operands = add_tensors(&op, row, parts);
    add_attrs(&op, row);
    unsigned results = op.n_tensors - operands, read = n_slots - results;
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

static void test_tilings(void **state)
{
    (void)state;
    const char *count = getenv("SKIR_TEST_COUNT");
    unsigned times = count != NULL ? (unsigned)strtoul(count, NULL, 10) : 300;
    make_slots();
    signal(SIGSEGV, name_crash);
    signal(SIGFPE, name_crash);
    for (unsigned i = 0; i < COUNT(rows); i++)
        for (unsigned n = 0; n < times && (rows[i].subject.aic || rows[i].subject.aiv); n++)
            run_random(&rows[i]);
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
