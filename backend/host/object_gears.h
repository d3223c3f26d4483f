/* The tables of graphs with gears (struct skrt_gears), in an object that is made. */
#ifndef BACKEND_HOST_OBJECT_GEARS_H
#define BACKEND_HOST_OBJECT_GEARS_H

#include "backend/host/object_maker.h"

/* Puts the table of each graph that has rows under its symbol (device_gears_symbol). The entries
 * are defined. */
void object_gears(struct object_maker *maker);

#endif
