#include "ir/core/arch.h"

#include <strings.h>

static const struct {
    const char *name;
    bool sync_base;
} rows[] = {
#define ARCH(name, sync_base) {#name, sync_base},
#include "ir/core/archs.def"
};

static const struct {
    const char *part;
    enum arch arch;
} socs[] = {
#define SOC(part, arch) {part, ARCH_##arch},
#include "ir/core/archs.def"
};

static const struct arch_rates rates[ARCH_COUNT] = {
#define RATES(arch, ...) [ARCH_##arch] = {__VA_ARGS__},
#include "ir/core/archs.def"
};

bool arch_of_text(const char *text, size_t size, enum arch *arch)
{
    for (int i = 0; i < ARCH_COUNT; i++) {
        if (strlen(rows[i].name) != size || memcmp(rows[i].name, text, size) != 0)
            continue;
        *arch = (enum arch)i;
        return true;
    }
    return false;
}

bool arch_of_name(const struct module *module, uint32_t name, enum arch *arch)
{
    return arch_of_text(module->names.names[name].text, module->names.names[name].size, arch);
}

/* False where neither the attribute nor the name says it. */
static bool find_arch(const struct module *module, const struct target *target, enum arch *arch)
{
    const struct intern_name *name = &module->names.names[target->name];
    uint32_t written = attr_string(module, target->attrs, W_arch);
    if (written != NONE && arch_of_name(module, written, arch))
        return true;
    for (size_t i = 0; i < sizeof socs / sizeof *socs; i++) {
        size_t size = strlen(socs[i].part);
        for (size_t at = 0; at + size <= name->size; at++)
            if (strncasecmp(name->text + at, socs[i].part, size) == 0) {
                *arch = socs[i].arch;
                return true;
            }
    }
    return false;
}

enum arch module_arch(const struct module *module)
{
    enum arch arch = (enum arch)0;
    if (module->targets.count > 0)
        find_arch(module, &module->targets.at[0], &arch);
    return arch;
}

bool module_arch_is_known(const struct module *module)
{
    enum arch arch;
    return module->targets.count == 0 || find_arch(module, &module->targets.at[0], &arch);
}

bool arch_has_sync_base(enum arch arch)
{
    return rows[arch].sync_base;
}

const struct arch_rates *arch_rates(enum arch arch)
{
    return rates[arch].mhz ? &rates[arch] : NULL;
}

void entry_number_slots(const struct module *module, struct entry *entry)
{
    entry->no_sync_base = !arch_has_sync_base(module_arch(module));
}

void entries_number_slots(struct module *module)
{
    for (uint32_t i = 0; i < module->entries.count; i++)
        entry_number_slots(module, &module->entries.at[i]);
}

const char *arch_name(enum arch arch)
{
    return rows[arch].name;
}
