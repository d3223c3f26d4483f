/* preload-code: brings code into the instruction cache before it is called.
 *
 * needs    super kernels with their entries, a kernel for every op
 * changes  programs of entries that have no preloads yet
 * keeps    all other instructions and their order
 *
 * Before op n of a list come, in this order: if n is the first, its own preload; the preload of op
 * n + 1; then what is owed before n, and its call. Where the entry splits its barriers
 * (early_start.c), the arrival comes before the preloads. So the code of n + 1 is on its way while
 * n runs, or while its cores wait for their turn. With two lists, those are the lists of each core
 * type. With one list, a program has no instructions of ops without a part on its core type, but
 * they count: the preload of op n + 1 stands behind the synchronisation that leads from the core
 * type's last op before n to the op behind that, and before the one that leads into n + 1.
 *
 * Preloads are hints. They read no data and order nothing, so a program means the same with them.
 */
#include "ir/core/kernel.h"
#include "ir/syntax/locate.h"
#include "passes/lower/insertion_points.h"
#include "passes/lower/visit.h"

#include <string.h>

enum {
    PRELOAD_UNIT = 2048,      /* bytes of code that one unit brings in */
    PRELOAD_MAX_CODE = 16384, /* of one kernel: the instruction cache of an AIV */
    PRELOAD_ALL_UNITS = 8,
};

enum { NOT_ASKED = -1, NOT_KNOWN = -2 };

struct preloads {
    int8_t *units; /* of each kernel's parts, by core type; or NOT_ASKED, NOT_KNOWN */
};

/* ------------------------------------------------------------------- sizes of code ---- */

/* The attribute counts before the object. */
static bool written_size(const struct module *module, const struct kernel *kernel,
                         enum core_type core, uint64_t *size)
{
    const struct attr *attr = attr_find(module, kernel->attrs, W_code);
    const struct attr_value *value = attr ? &attr->value : NULL;
    if (value && value->kind == ATTR_DICT) {
        struct range parts = {value->first, value->count};
        attr = attr_find(module, parts, core == CORE_AIC ? W_aic : W_aiv);
        value = attr ? &attr->value : NULL;
    }
    if (!value || value->kind != ATTR_INT)
        return false;
    *size = (uint64_t)value->i;
    return true;
}

static void report_unknown(const struct superkernel *sk, const struct kernel *kernel)
{
    if (diag_at(sk->context->diags, DIAG_unknown_code, locate_name(sk->module, kernel->loc),
                "the code of '@%.*s' is of unknown size, so it is not preloaded",
                NAME(sk->module, kernel->name)))
        diag_help(sk->context->diags,
                  "write code = N, its bytes; or object = \"FILE.o\", a file with its function");
}

/* False where the size is not known. */
static bool find_size(const struct superkernel *sk, const struct kernel *kernel,
                      enum core_type core, uint64_t *size)
{
    struct code_sizes *sizes = sk->context->code_sizes;
    return written_size(sk->module, kernel, core, size) ||
           (sizes && sizes->find(sizes, sk->module, kernel, core, size));
}

/* Units to preload of a kernel's part. */
static uint32_t units_of(const struct superkernel *sk, const struct kernel *kernel,
                         enum core_type core)
{
    struct preloads *preloads = sk->user;
    int8_t *units = &preloads->units[kernel_id(sk->module, kernel) * CORE_TYPES];
    uint64_t size;
    /* The function of a dynamic kernel is chosen later. */
    if (kernel_is_dynamic(sk->module, kernel))
        return 0;
    if (units[core] == NOT_ASKED) {
        if (find_size(sk, kernel, core, &size)) {
            size = size < PRELOAD_MAX_CODE ? size : PRELOAD_MAX_CODE;
            units[core] = (int8_t)((size + PRELOAD_UNIT - 1) / PRELOAD_UNIT);
        } else {
            units[core] = NOT_KNOWN;
            if (units[1 - core] != NOT_KNOWN)
                report_unknown(sk, kernel);
        }
    }
    return units[core] == NOT_KNOWN ? 0 : (uint32_t)units[core];
}

/* ----------------------------------------------------------------------- insertion ---- */

static void add_preload(struct program_edit *edit, uint32_t at, const struct superkernel *sk,
                        const struct instr *call, enum core_type core)
{
    const struct kernel *kernel = module_kernel(sk->module, call->kernel);
    struct instr preload = instr_make(INSTR_preload, 0);
    preload.part = call->part;
    preload.kernel = call->kernel;
    preload.number[0] = units_of(sk, kernel, core);
    if (preload.number[0])
        program_edit_add(edit, at, preload);
}

static void preload_each(struct superkernel *sk, enum core_type core)
{
    const struct program *program = &sk->entry->programs[core];
    struct program_edit edit = {NULL, 0, 0};
    struct ahead calls;
    ahead_init(&calls, sk, core);
    for (uint32_t i = 0; i < calls.at.count; i++)
        add_preload(&edit, ahead_place(&calls, i), sk, &program->instrs.at[calls.at.at[i]], core);
    superkernel_edit(sk, core, &edit);
    ahead_free(&calls);
}

static void preload_all(struct superkernel *sk, enum core_type core)
{
    struct program_edit edit = {NULL, 0, 0};
    struct instr preload = instr_make(INSTR_preload_all, 0);
    preload.number[0] = PRELOAD_ALL_UNITS;
    program_edit_add(&edit, 0, preload);
    superkernel_edit(sk, core, &edit);
}

static bool has_code_preloads(const struct entry *entry)
{
    for (int core = 0; core < CORE_TYPES; core++) {
        const struct program *program = &entry->programs[core];
        for (uint32_t i = 0; i < program->instrs.count; i++)
            if (program->instrs.at[i].op == INSTR_preload ||
                program->instrs.at[i].op == INSTR_preload_all)
                return true;
    }
    return false;
}

static bool insert(struct superkernel *sk)
{
    int64_t mode = sk->options->of[SK_preload_code].number;
    if (mode == SK_PRELOAD_none || has_code_preloads(sk->entry))
        return true;
    for (int core = 0; core < CORE_TYPES; core++) {
        if (!sk->entry->programs[core].present)
            continue;
        if (mode == SK_PRELOAD_max)
            preload_all(sk, core);
        else
            preload_each(sk, core);
    }
    return true;
}

bool pass_preload_code(struct pass_context *context)
{
    size_t size = (size_t)context->module->kernels.count * CORE_TYPES;
    struct preloads preloads = {mem_calloc(size, 1)};
    if (size)
        memset(preloads.units, NOT_ASKED, size);
    bool ok = superkernels_visit_in_turn(context, insert, &preloads);
    mem_free(preloads.units);
    return ok;
}

/* preload-data: brings the parameters of ops into the data cache before they are called.
 *
 * needs    super kernels with their entries
 * changes  programs of entries that have no such preloads yet
 * keeps    all other instructions and their order
 *
 * They stand where preload-code puts those of code, one op ahead, and behind them: the parameters
 * of op n + 1 come before op n, those of the first op with them.
 *
 * They are hints: they bring in what does not change during a launch, and order nothing.
 */

static uint32_t behind_preloads(const struct program *program, uint32_t at)
{
    while (program_has(program, at, INSTR_preload) || program_has(program, at, INSTR_preload_all))
        at++;
    return at;
}

static void preload(struct superkernel *sk, enum core_type core)
{
    const struct program *program = &sk->entry->programs[core];
    struct program_edit edit = {NULL, 0, 0};
    struct ahead calls;
    ahead_init(&calls, sk, core);
    for (uint32_t i = 0; i < calls.at.count; i++) {
        struct instr instr = instr_make(INSTR_preload_data, 0);
        instr.number[0] = program->instrs.at[calls.at.at[i]].number[0];
        program_edit_add(&edit, behind_preloads(program, ahead_place(&calls, i)), instr);
    }
    superkernel_edit(sk, core, &edit);
    ahead_free(&calls);
}

static bool has_data_preloads(const struct entry *entry)
{
    for (int core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < entry->programs[core].instrs.count; i++)
            if (program_has(&entry->programs[core], i, INSTR_preload_data))
                return true;
    return false;
}

static bool wants(const struct sk_options *options)
{
    return options->of[SK_preload_data].number != SK_PRELOAD_DATA_none;
}

static bool visit(struct superkernel *sk)
{
    if (has_data_preloads(sk->entry))
        return true;
    for (int core = 0; core < CORE_TYPES; core++)
        if (sk->entry->programs[core].present)
            preload(sk, (enum core_type)core);
    return true;
}

bool pass_preload_data(struct pass_context *context)
{
    return superkernels_visit_if(context, wants, visit);
}
