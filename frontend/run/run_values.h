/* A graph that another one is compared with: that of another file, or of the same one under other
 * options of scopes. Its values are found by name, else by position. */
#ifndef FRONTEND_RUN_RUN_VALUES_H
#define FRONTEND_RUN_RUN_VALUES_H

#include "frontend/run/runner.h"

/* Constants and variables of the other that have contents of their own get what --input says of the
 * first one's in the place of these, which need not be there then. To be freed with the inputs. */
void run_other_name(struct runner *other, const struct runner *first);

/* Compares what both have left: under other options all values, bit for bit; else parameters and
 * results, as --rtol and --atol say. Appends lines about differences. */
enum verdict run_other_compare(const struct outcome *first, const struct outcome *other,
                               struct text *text);

/* Contents of values in a run: what goes in, and what comes out. */

/* What --input and --output name. False, with a usage error, where that is nothing. */
bool run_values_name(struct runner *runner);
void run_values_free(struct runner *runner);

/* Storage for the first run of each way, with the inputs, and for further runs of all. Where the
 * graph is so large that these are better left, there are none (runner.repeat). */
enum exit_status run_values_make(struct outcomes *outcomes);
void run_values_release(struct outcomes *outcomes);

/* Storage for a run of the graph, not filled, on a machine that has memory for so many copies. */
bool run_values_init(const struct runner *runner, struct storages *storages, unsigned copies);
/* Fills it with the inputs that the first run of a way had. EXIT_INPUT, reported, where they cannot
 * be had. */
enum exit_status run_values_fill(const struct outcome *outcome, const struct storages *storages);

/* Behind a first run: keeps what it has changed of the inputs. */
void run_values_keep(const struct outcome *outcome);
/* Before a further run: the inputs are as they were before the first one. */
void run_values_restore(const struct workplace *workplace);

/* An output may replace an array that --input reads: a value that the run updates. */
void run_values_release_input(const struct runner *runner, const char *output);

/* Writes what --output says. */
enum exit_status run_values_write(const struct runner *runner, const struct storage *storage);

#endif
