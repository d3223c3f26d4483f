/* profile: time records around the whole kernel, each op, each notify and wait, where the option
 * profiling asks for them.
 *
 * needs    super kernels with their entries
 * changes  programs: `profile` at their begin and end, around calls, `notify` and `wait_event`; two
 *          more parameters at the end of the entry
 * keeps    all other instructions and their order; the slots of all other parameters
 *
 * An entry that has records is left alone. Why it is sound: records neither order cores nor are
 * waited for, and nothing that must stand beside another is torn apart: what belongs to a call
 * stands around its record.
 */
#include "ir/slots.h"
#include "ir/syntax/locate.h"
#include "passes/entry/records.h"
#include "passes/entry/visit.h"

#include <string.h>

enum { PROFILE_SLOTS = 2 }; /* the address of the buffer for records, and its size in bytes */

/* ----------------------------------------------------------------------- parameters ---- */

static struct attr *find_params(const struct superkernel *sk)
{
    for (uint32_t i = 0; i < sk->entry->attrs.count; i++) {
        struct attr *attr = &sk->module->attrs.at[sk->entry->attrs.first + i];
        if (attr->key == W_params)
            return attr;
    }
    return NULL;
}

static bool add_params(const struct superkernel *sk)
{
    struct attr *params = find_params(sk);
    if (!params) {
        diag_at(sk->context->diags, DIAG_missing_attribute, locate_name(sk->module, sk->entry->loc),
                "the entry has no 'params' behind which those of profiling could stand");
        return false;
    }
    uint32_t count = params->value.count;
    struct attr_value *values = mem_calloc((size_t)count + PROFILE_SLOTS, sizeof *values);
    if (count)
        memcpy(values, sk->module->attr_values.at + params->value.first, count * sizeof *values);
    for (uint32_t i = 0; i < PROFILE_SLOTS; i++)
        values[count + i] = (struct attr_value){.kind = ATTR_WORD, .id = W_profiling};
    struct range range = module_add_values(sk->module, values, count + PROFILE_SLOTS);
    params->value.first = range.first;
    params->value.count = range.count;
    mem_free(values);
    return true;
}

/* Where there are slots there were records, which are not to be seen here (superkernels_visit). */
static bool profile(struct superkernel *sk)
{
    if (!sk->options.of[SK_profiling].number || records_present(sk->entry) ||
        entry_profile_slot(sk->module, sk->entry) != NONE)
        return true;
    if (!add_params(sk))
        return false;
    records_make(sk);
    return true;
}

bool pass_profile(struct pass_context *context)
{
    return superkernels_visit(context, profile);
}
