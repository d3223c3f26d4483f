/* What stands once for each combination of gears, under a name for all of them: accounts of many
 * combinations name it so. */
#ifndef FRONTEND_DRIVER_CHECK_GEARS_H
#define FRONTEND_DRIVER_CHECK_GEARS_H

#include "ir/core/module.h"
#include "ir/shapes/gears.h"

#include <stdio.h>

/* A graph or super kernel of one combination. */
struct gear_place {
    uint32_t graph; /* index of the graph with gears */
    uint32_t row;   /* of its cases */
    uint32_t name;  /* "f_*_layer" for "f_b2_layer" (a name id) */
};

struct gear_names {
    struct module *module;
    struct id_map at; /* by name: index of `places` */
    VEC(struct gear_place) places;
};

/* Of a module that expand-gears has seen. */
void gear_names_init(struct gear_names *names, struct module *module);
void gear_names_free(struct gear_names *names);

/* What has a name; NULL where it is of no combination. */
const struct gear_place *gear_names_find(const struct gear_names *names, uint32_t name);
/* Appends a text in which the common names stand in the place of those in quotes, as '@NAME', and
 * of events, as 'NAME', behind which expand-gears has put numbers. The first place that was found,
 * or NULL. */
const struct gear_place *gear_names_write(const struct gear_names *names, struct text *text,
                                          const char *from);

/* Appends the rows of a graph whose mark is `mark`, as ranges: "b = 2 .. 8, b = 16". */
void gear_rows_text(struct text *text, const struct module *module, const struct graph *graph,
                    const uint32_t *marks, uint32_t mark);

/* ---- skirc check --explain: where combinations of gears differ, and why ---- */

/* Prints an account of each graph with gears of a module that is lowered. */
void check_gears_print(FILE *out, struct module *module);

#endif
