/* The device toolchain: where it is, and the command lines that make an object of the source. */
#ifndef BACKEND_ASCEND_TOOLCHAIN_H
#define BACKEND_ASCEND_TOOLCHAIN_H

#include <stdbool.h>

#include "backend/ascend/symbols.h"
#include "backend/target/backend.h"
#include "ir/core/arch.h"
#include "ir/support/arena.h"
#include "ir/support/file.h"
#include "ir/support/text.h"

/* Texts of an arena. */
struct toolchain {
    bool found;
    const char *compiler, *linker, *objcopy; /* where nothing is found, names to be looked for in
                                              * PATH; linker NULL: there is only the compiler */
    const char *headers;                     /* the folder of AscendC's; NULL: there is none */
};

/* The command lines that make an object of the source. */

/* What all compilations of one source have in common. */
struct command_lines {
    const struct module *module;
    struct toolchain tools;
    enum arch arch;
    struct file_names options; /* of all entries, each once */
    bool parts[CORE_TYPES];    /* core types that some entry runs on: a compilation each */
    bool mixed;                /* some launch has both */
    bool one_to_one;           /* and all that have both have one AIV for each AIC */
    bool copies;               /* code that is called is far away */
    bool dumps;
    struct symbols symbols;
    struct arena arena;
};

/* `why` as toolchain_find has it. */
void command_lines_init(struct command_lines *lines, const struct module *module, char *why,
                        size_t why_size);
void command_lines_free(struct command_lines *lines);

/* Adds the words of the compilation of a part. */
void command_lines_compile(struct command_lines *lines, enum core_type core, const char *source,
                           const char *object, struct file_names *words);
/* Adds the words that put an object, linked to be linked further, at its addresses. */
void command_lines_finish(struct command_lines *lines, const char *linked, const char *output,
                          struct file_names *words);

/* The commands of the device toolchain, as a script. */

/* Whether the kernels that entries call may be in an object for NPUs; reports those that are sample
 * kernels, which this machine runs. */
bool commands_check_kernels(const struct emission_job *job);

/* Appends the script that makes `base`.o of the source `base`.ascendc.cpp. The job's module has an
 * entry. */
void commands_add(const struct emission_job *job, struct text *text, const char *base);

#endif
