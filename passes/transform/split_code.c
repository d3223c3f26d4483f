/* split-code: has the cores of an entry run copies of each kernel's code.
 *
 * needs    super kernels with their entries, a kernel for every op
 * changes  `split` of entries that do not have it; `split` and `copies` of kernels that the option
 *          kernel-map names
 * keeps    programs
 *
 * How many copies is the option split-mode; with one, nothing is written. The core with the number
 * c of its type runs copy c mod `split` (docs/language.md, "Entries"). The copies are made when the
 * kernels are linked. A kernel with `split` brings its own, whose number must be the same; which
 * functions those are is `copies`, which the option kernel-map gives.
 */
#include "ir/core/attr.h"
#include "ir/core/kernel.h"
#include "ir/syntax/locate.h"
#include "passes/lower/superkernel.h"
#include "passes/lower/visit.h"

#include <string.h>

enum { MAX_COPIES = 64 };

/* Name ids: a function, and its copies behind it. */
struct mapped {
    uint32_t names[MAX_COPIES];
    uint32_t count;
};

/* Names with a '/' between them. */
static void read_mapped(struct module *module, const char *word, size_t size, struct mapped *mapped)
{
    const char *end = word + size;
    mapped->count = 0;
    while (word && mapped->count < MAX_COPIES) {
        const char *slash = memchr(word, '/', (size_t)(end - word)), *stop = slash ? slash : end;
        mapped->names[mapped->count++] = intern_copy(&module->names, word, (size_t)(stop - word));
        word = slash ? slash + 1 : NULL;
    }
}

/* The copies of a function; false where the option does not name it. */
static bool find_mapped(const struct superkernel *sk, uint32_t function, struct mapped *mapped)
{
    struct sk_setting rest = sk->options->of[SK_kernel_map];
    const char *word;
    size_t size;
    while (sk_option_next(&rest, &word, &size)) {
        read_mapped(sk->module, word, size, mapped);
        if (mapped->names[0] == function)
            return true;
    }
    return false;
}

/* ------------------------------------------------------------------------ one kernel ---- */

static struct span option_span(const struct superkernel *sk)
{
    return locate_option(sk->module, sk->block, SK_kernel_map);
}

static bool report_other(const struct superkernel *sk, const struct kernel *kernel)
{
    if (diag_at(sk->context->diags, DIAG_split_mode, option_span(sk),
                "kernel-map names other copies than '@%.*s' has", NAME(sk->module, kernel->name)))
        diag_help(sk->context->diags, "the copies of a kernel are the same in all super kernels");
    return false;
}

/* Lists of names, one a function of a kernel. */
struct lists {
    VEC(struct attr_value) at;
    uint32_t mapped, missing; /* functions, or NONE */
    uint32_t count;           /* of names in each */
};

static bool has_list(const struct superkernel *sk, const struct lists *lists, uint32_t function)
{
    for (uint32_t i = 0; i < lists->at.count; i++)
        if (sk->module->attr_values.at[lists->at.at[i].first].id == function)
            return true;
    return false;
}

/* Collects the lists of a kernel's functions; false where they differ in length, or some functions
 * have none. */
static bool collect(const struct superkernel *sk, const struct kernel *kernel, struct lists *lists)
{
    const struct module *module = sk->module;
    struct kernel_part part;
    struct mapped mapped;
    for (uint32_t i = 0; i < kernel_parts(module, kernel); i++) {
        if (!kernel_part_at(module, kernel, i, &part) || part.function == NONE ||
            has_list(sk, lists, part.function))
            continue;
        if (!find_mapped(sk, part.function, &mapped)) {
            lists->missing = part.function;
            continue;
        }
        if (lists->mapped != NONE && mapped.count != lists->count) {
            diag_at(sk->context->diags, DIAG_split_mode, option_span(sk),
                    "kernel-map has %u functions for '%.*s', but %u for another function of "
                    "'@%.*s'",
                    mapped.count, NAME(module, mapped.names[0]), lists->count,
                    NAME(module, kernel->name));
            return false;
        }
        lists->mapped = part.function;
        lists->count = mapped.count;
        struct attr_value names[MAX_COPIES];
        for (uint32_t n = 0; n < mapped.count; n++)
            names[n] = (struct attr_value){.kind = ATTR_STRING, .id = mapped.names[n]};
        struct range range = module_add_values(sk->module, names, mapped.count);
        vec_push(&lists->at, ((struct attr_value){
                                 .kind = ATTR_LIST, .first = range.first, .count = range.count}));
    }
    if (lists->mapped == NONE || lists->missing == NONE)
        return true;
    diag_at(sk->context->diags, DIAG_split_mode, option_span(sk),
            "kernel-map names copies of '%.*s', but none of '%.*s', which is a function of '@%.*s' "
            "too",
            NAME(module, lists->mapped), NAME(module, lists->missing), NAME(module, kernel->name));
    return false;
}

static bool same_lists(const struct module *module, const struct attr *copies,
                       const struct lists *lists)
{
    bool same = copies->value.count == lists->at.count;
    for (uint32_t i = 0; same && i < lists->at.count; i++) {
        const struct attr_value *a = &module->attr_values.at[copies->value.first + i];
        const struct attr_value *b = &lists->at.at[i];
        same = a->kind == ATTR_LIST && a->count == b->count;
        for (uint32_t n = 0; same && n < a->count; n++)
            same =
                module->attr_values.at[a->first + n].id == module->attr_values.at[b->first + n].id;
    }
    return same;
}

static void write_copies(struct module *module, struct kernel *kernel, const struct lists *lists)
{
    struct range values = module_add_values(module, lists->at.at, lists->at.count);
    struct attr split = {W_split, NONE, {.kind = ATTR_INT, .i = lists->count}};
    struct attr copies = {
        W_copies, NONE, {.kind = ATTR_LIST, .first = values.first, .count = values.count}};
    kernel->attrs = attrs_with(module, attrs_with(module, kernel->attrs, split), copies);
}

static bool write_kernel(const struct superkernel *sk, struct kernel *kernel, uint32_t *copies)
{
    struct lists lists = {.mapped = NONE, .missing = NONE};
    const struct attr *written = attr_find(sk->module, kernel->attrs, W_copies);
    int64_t split = attr_int(sk->module, kernel->attrs, W_split, 0);
    bool ok = collect(sk, kernel, &lists);
    if (ok && lists.mapped != NONE) {
        if (written ? !same_lists(sk->module, written, &lists) : split && split != lists.count)
            ok = report_other(sk, kernel);
        else if (!written)
            write_copies(sk->module, kernel, &lists);
        *copies = lists.count;
    }
    vec_free(&lists.at);
    return ok;
}

/* Writes `split` and `copies` of the kernels of a super kernel's ops that its option names. False
 * where it contradicts itself or a kernel, which is reported. `*copies` is their number where it
 * names any, else not changed. */
static bool kernel_map_write(const struct superkernel *sk, uint32_t *copies)
{
    bool ok = true;
    if (!sk->options->of[SK_kernel_map].given)
        return true;
    uint8_t *seen = mem_calloc(sk->module->kernels.count, 1);
    for (uint32_t i = 0; i < sk->count; i++) {
        uint32_t id = kernel_id(sk->module, superkernel_kernel(sk, i));
        if (!seen[id])
            ok = write_kernel(sk, &sk->module->kernels.at[id], copies) && ok;
        seen[id] = true;
    }
    mem_free(seen);
    return ok;
}

/* -------------------------------------------------------------------------- warnings ---- */

static bool is_function(const struct module *module, uint32_t name, struct suggest *suggest)
{
    struct kernel_part part;
    for (uint32_t k = 0; k < module->kernels.count; k++)
        for (uint32_t i = 0; i < kernel_parts(module, &module->kernels.at[k]); i++) {
            if (!kernel_part_at(module, &module->kernels.at[k], i, &part) || part.function == NONE)
                continue;
            if (part.function == name)
                return true;
            name_offer(suggest, module, part.function);
        }
    return false;
}

static void warn_block(const struct pass_context *context, const struct block *block,
                       struct sk_setting rest)
{
    struct module *module = context->module;
    struct mapped mapped;
    const char *word;
    size_t size;
    while (sk_option_next(&rest, &word, &size)) {
        read_mapped(module, word, size, &mapped);
        struct suggest suggest = name_suggest(module, mapped.names[0]);
        if (!is_function(module, mapped.names[0], &suggest) &&
            diag_at(context->diags, DIAG_option_function,
                    locate_option(module, block, SK_kernel_map),
                    "'%s' names the function '%.*s', which no kernel here has",
                    sk_option_key(SK_kernel_map), NAME(module, mapped.names[0])))
            diag_suggest(context->diags, &suggest);
    }
}

/* Warns of functions in the options of all super kernels that no kernel has. */
static void kernel_map_warn(const struct pass_context *context)
{
    struct module *module = context->module;
    for (uint32_t g = 0; g < module->graphs.count; g++)
        for (uint32_t b = 0; b < module->graphs.at[g].blocks.count; b++) {
            const struct block *block = &module->graphs.at[g].blocks.at[b];
            if (block->kind != BLOCK_SUPERKERNEL)
                continue;
            const struct sk_setting *map = &block_options(module, block)->of[SK_kernel_map];
            if (map->given)
                warn_block(context, block, *map);
        }
}

/* Kernels (by index) that were reported, with the number of the super kernel. */
struct reports {
    uint32_t *of;
    uint32_t superkernel;
};

static uint32_t own_copies(const struct superkernel *sk, uint32_t i)
{
    return (uint32_t)attr_int(sk->module, superkernel_kernel(sk, i)->attrs, W_split, 0);
}

static void report(const struct superkernel *sk, uint32_t i, uint32_t copies, bool written)
{
    const struct module *module = sk->module;
    const struct kernel *kernel = superkernel_kernel(sk, i);
    const struct attr *own = attr_find(module, kernel->attrs, W_split);
    if (!diag_at(
            sk->context->diags, DIAG_split_mode,
            locate_op(module, superkernel_op(sk, i), OP_TYPE_NAME, 0),
            "the object of '@%.*s' has %u %s of its code (split = %u), but %s '@%.*s' asks for "
            "%u (%s%u)",
            NAME(module, kernel->name), own_copies(sk, i),
            own_copies(sk, i) == 1 ? "copy" : "copies", own_copies(sk, i),
            written ? "entry" : "super kernel", NAME(module, sk->block->name), copies,
            written ? "split = " : "split-mode=", copies))
        return;
    diag_note(sk->context->diags, locate_token(module, own->loc), "this is what its object has");
    diag_help(sk->context->diags,
              "make the two numbers equal; without 'split', skirc makes the copies itself");
}

static bool check_kernels(const struct superkernel *sk, uint32_t copies, bool written)
{
    struct reports *reports = sk->user;
    bool ok = true;
    reports->superkernel++;
    for (uint32_t i = 0; i < sk->count; i++) {
        uint32_t own = own_copies(sk, i);
        uint32_t *reported = &reports->of[kernel_id(sk->module, superkernel_kernel(sk, i))];
        if (own == 0 || own == copies)
            continue;
        if (*reported != reports->superkernel)
            report(sk, i, copies, written);
        *reported = reports->superkernel;
        ok = false;
    }
    return ok;
}

static bool split(struct superkernel *sk)
{
    const struct attr *written = attr_find(sk->module, sk->entry->attrs, W_split);
    uint32_t copies = (uint32_t)sk->options->of[SK_split_mode].number, mapped = copies;
    if (!kernel_map_write(sk, &mapped))
        return false;
    if (written)
        copies = (uint32_t)attr_int(sk->module, sk->entry->attrs, W_split, 1);
    else if (!sk->options->of[SK_split_mode].given)
        copies = mapped;
    if (!check_kernels(sk, copies, written))
        return false;
    if (!written && copies > 1)
        superkernel_own_entry(sk)->attrs =
            attrs_with(sk->module, sk->entry->attrs,
                       (struct attr){W_split, NONE, {.kind = ATTR_INT, .i = copies}});
    return true;
}

bool pass_split_code(struct pass_context *context)
{
    struct reports reports = {mem_calloc(context->module->kernels.count, sizeof *reports.of), 0};
    bool ok = superkernels_visit_in_turn(context, split, &reports);
    kernel_map_warn(context);
    mem_free(reports.of);
    return ok;
}
