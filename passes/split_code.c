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
#include "ir/syntax/locate.h"
#include "passes/entry/kernel_map.h"
#include "passes/entry/visit.h"

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

static void write_split(struct module *module, struct entry *entry, uint32_t copies)
{
    struct range old = entry->attrs;
    struct attr *attrs = mem_calloc(old.count + 1, sizeof *attrs);
    for (uint32_t i = 0; i < old.count; i++)
        attrs[i] = module->attrs.at[old.first + i];
    attrs[old.count] = (struct attr){W_split, NONE, {.kind = ATTR_INT, .i = copies}};
    entry->attrs = module_add_attrs(module, attrs, old.count + 1);
    mem_free(attrs);
}

static bool split(struct superkernel *sk)
{
    const struct attr *written = attr_find(sk->module, sk->entry->attrs, W_split);
    uint32_t copies = (uint32_t)sk->options.of[SK_split_mode].number, mapped = copies;
    if (!kernel_map_write(sk, &mapped))
        return false;
    if (written)
        copies = (uint32_t)attr_int(sk->module, sk->entry->attrs, W_split, 1);
    else if (!sk->options.of[SK_split_mode].given)
        copies = mapped;
    if (!check_kernels(sk, copies, written))
        return false;
    if (!written && copies > 1)
        write_split(sk->module, superkernel_own_entry(sk), copies);
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
