/* Where the reference compiler cuts scopes (docs/passes.md, "The cuts of the reference"): in each
 * stream at every node between a scope's first and last op there that is not of it. A cut is a
 * position among all ops, and holds for all streams of the scope. */
#ifndef PASSES_PARTITION_REFERENCE_CUTS_H
#define PASSES_PARTITION_REFERENCE_CUTS_H

#include "ir/analysis/dep_graph.h"

/* What an op is to the scope that it is in, and to others. */
enum cut_role {
    CUT_IGNORED, /* nothing */
    CUT_MEMBER,  /* of it, and fusable; cuts others */
    CUT_OTHER,   /* cuts its own, too */
};

/* The ops of a scope between two cuts. */
struct reference_part {
    uint32_t scope;
    int64_t begin, end; /* positions of the cuts, or before the first and after the last op */
    uint32_t cut_by;    /* the op at `begin`, or NONE: it is the first part */
    bool is_cut;        /* the scope has cuts */
};

struct reference_cuts {
    int64_t *position; /* per op */
    uint32_t *part;    /* per op: an index of `parts`, or NONE */
    VEC(struct reference_part) parts;
};

/* The positions of ops in a topological order in which, of what can be next, the smallest id is;
 * the first is `begin`. */
int64_t *reference_positions(const struct order *order, int64_t begin);

/* `scope_of` is by op, 0 for those in no scope; scopes are 1 .. n_scopes - 1. */
void reference_cuts_init(struct reference_cuts *cuts, const struct order *order,
                         const uint32_t *scope_of, uint32_t n_scopes, const uint8_t *roles,
                         int64_t begin);
void reference_cuts_free(struct reference_cuts *cuts);

#endif
