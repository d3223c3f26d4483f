/* The refutations of verify-sync, in words: where it is, why it is wrong, and what to write
 * where. */
#ifndef PASSES_SYNC_REPORT_H
#define PASSES_SYNC_REPORT_H

#include "passes/sync/check.h"

/* "aic instruction 3 (set c2v)": entries that a pass made have no positions. */
const char *sync_step_text(const struct sync_checker *checker, enum core_type core, uint32_t step);
struct span sync_step_span(const struct sync_checker *checker, enum core_type core, uint32_t step);
const char *sync_await_text(enum core_type core);                             /* "await aic" */
const char *sync_op_text(const struct sync_checker *checker, uint32_t place); /* "Add %y" */

/* Reports a step: `text` follows what and where it is. */
bool sync_report_step(const struct sync_checker *checker, enum diag_id id, enum core_type core,
                      uint32_t step, const char *text);
/* Tells what to write behind or before a step, as a line to paste. Adds the fact `insert` to the
 * diagnostic for tools. */
enum sync_side { SYNC_BEFORE, SYNC_BEHIND };
void sync_help(const struct sync_checker *checker, const char *instrs, enum sync_side side,
               enum core_type core, uint32_t step);

/* Tells to take a step out, which other help writes at another place: one that stands on the wrong
 * side of what it is ordered with. Adds the fact `remove`. */
void sync_help_take_out(const struct sync_checker *checker, const struct sync_point *point);
/* Whether `first` comes before `point` in every run, so that nothing can order it behind. */
bool sync_is_before(const struct sync_checker *checker, const struct sync_point *first,
                    const struct sync_point *point);

void sync_report_deadlock(const struct sync_checker *checker, enum core_type core);
/* The n-th set of `core`, from 0; `over` waits are sure to be over by then. */
void sync_report_overflow(const struct sync_checker *checker, enum core_type core, uint32_t n,
                          uint32_t over);
void sync_report_left_set(const struct sync_checker *checker, enum core_type core);
/* The n-th arrival of `core`, from 0, before which it has awaited `awaited` barriers. */
void sync_report_ahead(const struct sync_checker *checker, enum core_type core, uint32_t n,
                       uint32_t awaited);
void sync_report_unawaited(const struct sync_checker *checker, enum core_type core);
void sync_report_undrained(const struct sync_checker *checker, enum core_type core, uint32_t last,
                           uint32_t call);
/* The part of op `from` on `part` is not known where that of `to` on `core` starts. */
void sync_report_order(const struct sync_checker *checker, const struct order_edge *edge,
                       uint32_t from, uint32_t to, enum core_type part, enum core_type core);

/* What is known of `earlier` at `later`, and what to write where to make it complete by then. */
void sync_explain_order(const struct sync_checker *checker, const struct sync_point *earlier,
                        const struct sync_point *later);
/* The latter alone. */
void sync_help_order(const struct sync_checker *checker, const struct sync_point *earlier,
                     const struct sync_point *later);

#endif
