/* How often memories of values are written while a graph runs, so that it is known when one has
 * what an op reads from it. */
#ifndef FRONTEND_COMMANDS_RUN_WRITERS_H
#define FRONTEND_COMMANDS_RUN_WRITERS_H

#include "frontend/tensor/storages.h"

struct writers {
    const struct storages *storages;
    uint8_t **counts; /* by graph, and by the value that stands for a memory: 2 is any more */
};

void writers_init(struct writers *writers, const struct module *module,
                  const struct storages *storages);
void writers_free(struct writers *writers);

/* Whether the value has its contents before the graph runs, and nothing writes there. */
bool value_is_steady(const struct writers *writers, uint32_t graph, uint32_t value);
/* Whether what an op reads from it is there when the graph has run, once. */
bool value_stays(const struct writers *writers, uint32_t graph, uint32_t value);
/* Whether its memory is written more than once. */
bool writers_are_several(const struct writers *writers, uint32_t graph, uint32_t value);

#endif
