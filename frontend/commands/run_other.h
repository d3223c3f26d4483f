/* A graph that another one is compared with: that of another file, or of the same one under other
 * options of scopes. Its values are found by name, else by position. */
#ifndef FRONTEND_COMMANDS_RUN_OTHER_H
#define FRONTEND_COMMANDS_RUN_OTHER_H

#include "frontend/commands/runner.h"

/* Constants and variables of the other that have contents of their own get what --input says of the
 * first one's in the place of these, which need not be there then. To be freed with the inputs. */
void run_other_name(struct runner *other, const struct runner *first);

/* Gives the storage of the other, which has its own contents, those of the first: of parameters,
 * and of constants and variables that have none of their own or that --input is given for. */
enum exit_status run_other_fill(struct outcome *other, const struct outcome *first);

/* Compares what both have left: under other options all values, bit for bit; else parameters and
 * results, as --rtol and --atol say. Appends lines about differences. */
enum verdict run_other_compare(const struct outcome *first, const struct outcome *other,
                               struct text *text);

#endif
