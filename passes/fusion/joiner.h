/* Parts of groups that are joined: shared by joins.c and join_streams.c. */
#ifndef PASSES_FUSION_JOINER_H
#define PASSES_FUSION_JOINER_H

#include "passes/fusion/fusion_internal.h"

#define MANY UINT32_MAX

/* A launch: a part of a group, to which later parts may be added. */
struct part {
    uint32_t group, op; /* its first op, when it was made */
    uint32_t stream;    /* where it runs side by side with others; MANY: not known */
    uint32_t index;     /* among those of a segment at hand, for the one with the stamp */
    uint32_t stamp;
    bool joins; /* of those that are being joined */
    bool gone;  /* another one has its ops */
};

/* The schedule from the first to the last of the parts to be joined. A segment that has several
 * parts, and ops between them, is of the group MANY. */
struct join {
    struct fusion *f;
    uint32_t *part_of; /* per op: from 1; 0: it is of no group */
    VEC(struct part) parts;
    uint32_t *at;           /* room for abreast_init */
    struct vec_u32 *labels; /* by group: the streams of its ops; NULL: not known yet */
    uint32_t stamp;
    /* Per op: it needs one of the parts (NEAR), one that executes something (FIRM); one of the
     * parts needs it. */
    uint8_t *behind, *before;
    uint32_t *ops; /* room for a schedule */
    bool is_short; /* streams are looked for in linear time only */
    uint64_t work;
};

/* Numbers the parts of some ops: by place, NONE where an op is of none. `parts` gets them. The
 * result is the caller's. */
uint32_t *join_number_parts(struct join *join, const uint32_t *ops, uint32_t count,
                            struct vec_u32 *parts);

/* Whether there are streams for all parts among some ops; they are then theirs. Those that parts
 * have are tried first. The ops get an order in which launches of a stream do not overlap. */
bool join_find_streams(struct join *join, uint32_t *ops, uint32_t count);

#endif
