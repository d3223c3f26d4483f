/* What the user of `skirc import` asks for. */
#ifndef FRONTEND_EXCHANGE_DUMP_OPTIONS_H
#define FRONTEND_EXCHANGE_DUMP_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* Attributes that are kept besides those that mean something to skir. */
enum dump_keep {
    DUMP_KEEP_KNOWN, /* those that the data of the op's type has */
    DUMP_KEEP_ALL,
    DUMP_KEEP_NONE,
    DUMP_KEEP_LIST, /* those of `keys` */
};

struct dump_marks;
struct kernel_source;

struct dump_options {
    const char *name;   /* of the first graph; NULL: as the dump has it */
    const char *device; /* name of the target; NULL */
    uint32_t aic, aiv;  /* cores of the target */
    const char *arch;   /* its chip; NULL: it is not said */
    bool has_device;    /* a target is written */
    enum dump_keep keep;
    const char *const *keys; /* ended by NULL */
    bool dangling_params;    /* an input without a producer becomes a parameter */
    const struct kernel_source *library;    /* of sample kernels, loaded; NULL: there are none */
    const char *input_shape, *dynamic_dims; /* gears, as GE has them (gears.h); NULL: none */
    struct dump_marks *marks;               /* scopes and streams of ops (marks.h); may be NULL */
};

#endif
