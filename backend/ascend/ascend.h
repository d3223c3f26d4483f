/* Builds of objects for NPUs: links by the engine of backend/linker, and the names of files. */
#ifndef BACKEND_ASCEND_ASCEND_H
#define BACKEND_ASCEND_ASCEND_H

#include "backend/ascend/ascendc.h"
#include "backend/target/backend.h"

/* The name of the source's file, by which messages and tables of lines know it. */
#define BUILD_SOURCE "entry.cpp"

/* What the names end in of the sources that are left to be compiled. */
#define ASCENDC_SUFFIX ".ascendc.cpp"

#endif
