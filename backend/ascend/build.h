/* What the parts of a build of objects agree on. */
#ifndef BACKEND_ASCEND_BUILD_H
#define BACKEND_ASCEND_BUILD_H

/* The name of the source's file, by which messages and tables of lines know it. */
#define BUILD_SOURCE "entry.cpp"

/* What the names end in of the sources that are left to be compiled. */
#define ASCENDC_SUFFIX ".ascendc.cpp"

#endif
