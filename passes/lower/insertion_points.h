/* What stands beside the calls of an entry, and in which order. From the last thing of the op
 * before:
 *
 *   place BEGIN of ir/core/instrs.def   select, wait_event: the op begins
 *   pipe_barrier, dcci             a drain, and the cache maintenance before the call
 *   RECORD, STEP                   profile begin, feed_sync begin   \
 *   CALL                           the call                          > the call's own
 *   STEP, RECORD                   feed_sync end, profile end       /
 *   dcci                           the cache maintenance behind the call
 *   pipe_barrier, dcci             the pair that debug-dcci-all puts behind an op
 *   AHEAD                          preloads of later ops
 *
 * with what orders ops (BETWEEN) among them. Passes that put something there, and find what others
 * have put there, do both by these functions alone. */
#ifndef PASSES_LOWER_INSERTION_POINTS_H
#define PASSES_LOWER_INSERTION_POINTS_H

#include "ir/support/vec.h"
#include "passes/lower/superkernel.h"

/* For each op, the index of its call in the program of a core type, NONE where it has no part
 * there. To be freed. */
uint32_t *superkernel_calls(const struct superkernel *sk, enum core_type core);

/* The call's own: the first index of that, and the one behind the last. */
uint32_t call_site_end(const struct program *program, uint32_t call);

/* Whether the call's own has an instruction. */
bool call_site_has(const struct program *program, uint32_t call, enum instr_op op);

/* The next index, from `at`, of what is no record. */
uint32_t skip_records(const struct program *program, uint32_t at);

/* Whether a drain and a `dcci` stand there. */
bool program_has_dcci_pair(const struct program *program, uint32_t at);

/* The place for a `dcci` before a call, in `*place`; false where there is one. */
bool call_site_dcci_before(const struct program *program, uint32_t call, uint32_t *place);
/* The same behind a call; where there is one, `*place` is behind it. */
bool call_site_dcci_behind(const struct program *program, uint32_t call, uint32_t *place);

/* Behind the cache maintenance behind a call, with the pair where `pairs`: where the option
 * debug-dcci-all is on. */
uint32_t call_site_behind_dcci(const struct program *program, uint32_t call, bool pairs);

/* From `from`, where no call stands before that of the op (NONE: the program's end), the last place
 * before the op begins. */
uint32_t call_site_op_begin(const struct program *program, uint32_t from, uint32_t call);

/* Behind the last notify from `from` up to the next call; `from` where there is none. */
uint32_t call_site_behind_notify(const struct program *program, uint32_t from);

/* Behind what stands at the start of a program, before its first op. */
uint32_t program_start_end(const struct program *program);

/* Where a program has room for what is brought in ahead of calls: before op n of a list, behind the
 * op before it, stands what is for op n + 1; what is for the first op stands there, too. With two
 * lists, those are the lists of each core type. With one, a program has no instructions of ops
 * without a part on its core type, but they count. */

/* The calls of a program: where they stand, and the turns of their ops in the list. */
struct ahead {
    const struct program *program;
    bool split; /* the entry splits its barriers (passes/transform/early_start.c) */
    bool pairs; /* debug-dcci-all puts cache maintenance behind ops */
    struct vec_u32 at, turn;
    uint32_t before; /* calls before the place that was found last */
};

/* To be freed. */
void ahead_init(struct ahead *ahead, const struct superkernel *sk, enum core_type core);
void ahead_free(struct ahead *ahead);

/* The index in front of which stands what is brought in for the i-th call; `i` is not below that of
 * the question before. */
uint32_t ahead_place(struct ahead *ahead, uint32_t i);

/* What passes put beside the instructions of entries to watch them: time records, traces and
 * checks, by places that follow from the program. */

/* Kinds of records, one a pass. */
enum { RECORDS_PROFILE = 1, RECORDS_TRACE = 2, RECORDS_CHECK = 4 };

/* Has the super kernel's entry get records of a kind and the slots that they need, unless it has
 * any of them: for visitors of superkernels_visit. */
void records_add(struct superkernel *sk, unsigned kind);

/* Puts the records of these kinds into the programs of an entry that has none of them. */
void records_make(struct superkernel *sk, unsigned kinds);

/* Takes all out, so that a pass finds everything else where it was before, and returns the kinds.
 * 0, with nothing changed, where there are none, or no slots for them, or others than those that
 * records_make would put there. The entry's calls are those of its super kernel. */
unsigned records_take(struct superkernel *sk);

/* Checks of barriers and flags at other places stay in the programs: what the entry has of them and
 * of synchronisation, as a number, 0 where it has no checks; and, after a visit, all checks made
 * again where that has changed, since each has to fit what it checks. */
uint64_t records_checked(const struct superkernel *sk);
void records_recheck(struct superkernel *sk, uint64_t before);

#endif
