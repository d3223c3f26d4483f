/* Shared by what takes super kernels apart (passes/launches/apply.h). */
#ifndef PASSES_LAUNCHES_CUTTER_H
#define PASSES_LAUNCHES_CUTTER_H

#include "ir/rings.h"
#include "passes/launches/apply.h"

/* What the parts of a super kernel are called, as those of scopes. One that is a part already goes
 * on from its own place. */
struct part_names {
    uint32_t base, scope; /* scope: of names by the reference, else NONE */
    int64_t begin;        /* the place of the first op of the super kernel */
};

enum { CUT = 1, DISSOLVED };

/* The body is made anew. */
struct cutter {
    struct module *module;
    struct graph *graph;
    const struct order *order;
    struct rings rings;
    uint8_t *before; /* per op: its super kernel is cut before it */
    uint8_t *cut;    /* per block: it is cut, or (DISSOLVED) its ops are launched alone */
    VEC(uint64_t) body;
    uint32_t superkernel, beside, stream; /* that are open, or NONE; `beside` is a `scope none` */
    uint32_t first, place;                /* of the open part, and of the next op */
    struct part_names names;
    struct vec_u32 taken;   /* symbols (passes/fusion/superkernel_names.h) */
    struct vec_u32 part;    /* the own ops of the open part */
    int64_t *position;      /* per op, by the reference; NULL: names are not its own */
    struct id_map ends_of;  /* by event that a launch sent: its index of `ends` */
    VEC(struct range) ends; /* events that come with one: those who wait for it receive them */
    struct vec_u32 ops;     /* of the super kernel at work, and beside it */
};

/* Of super kernels as the reference names them, or not. */
struct part_names part_names_of(struct module *module, const struct block *block, bool reference);
/* Of the open part. */
uint32_t cutter_part_name(struct cutter *cutter);

void cutter_close(struct cutter *cutter, uint32_t *block);
uint32_t cutter_open(struct cutter *cutter, struct block block, uint32_t parent);
/* The stream around an op within its super kernel, or NONE. */
uint32_t cutter_stream(const struct graph *graph, uint32_t block);
/* Puts an op into the block, on its stream: `model` is a block of that. */
void cutter_put(struct cutter *cutter, uint32_t op, uint32_t model, uint32_t block);
/* The same for one of the open super kernel, or beside it. */
void cutter_put_inside(struct cutter *cutter, uint32_t op, uint32_t model, bool beside);

void cutter_add_event(struct graph *graph, struct range *events, uint32_t event);

/* Of a super kernel whose ops are in cutter->ops, and still stand in it. What its launch waits for,
 * the first op on each of its streams does. */
void cutter_hand_over_recv(struct cutter *cutter, uint32_t superkernel);
/* Its last op sends what the launch sent; who waits for that waits for the last on each of the
 * other streams, too. */
void cutter_hand_over_send(struct cutter *cutter, uint32_t superkernel);
/* The last part, from a place in cutter->ops on, sends what the launch sent, behind the last op on
 * each stream. */
void cutter_hand_over_to_part(struct cutter *cutter, uint32_t superkernel, uint32_t last_part);

/* cut_abreast.c */

/* The same for a graph in which launches stand side by side: all of it is arranged anew. Launches
 * keep their order on each stream. */
void cut_abreast(struct cutter *cutter);

#endif
