/* The words in memory that an entry shares with others: those of events, and the locks of dynamic
 * kernels. Core 0 of a program's type alone executes the instructions for them. */
#ifndef PASSES_SYNC_WORDS_H
#define PASSES_SYNC_WORDS_H

#include "passes/sync/report.h"

/* What the entry does with a slot's word: steps, NONE for never, and the programs they stand in. */
enum sync_use { USE_NOTIFY, USE_WAIT, USE_RESET, USE_COUNT };

/* Of an event that several ops receive, the first one's slot has all uses. */
struct word_uses {
    struct {
        uint32_t step;
        enum core_type core;
    } of[USE_COUNT];                 /* the first */
    uint32_t first_wait[CORE_TYPES]; /* by program: steps, or NONE */
    uint32_t waits, receivers;       /* how many */
};

/* What ops outside wait for (wait_cycles.c). */
struct sync_circles;

struct sync_words {
    struct sync_checker *checker;
    struct id_map index; /* by slot of the subject that has a word: its place in `uses` */
    VEC(struct word_uses) uses;
    struct sync_circles *circles;
};

static inline enum sync_use sync_use_of(enum instr_op op)
{
    return op == INSTR_notify ? USE_NOTIFY : op == INSTR_wait_event ? USE_WAIT : USE_RESET;
}

static inline struct word_uses *sync_word_uses(const struct sync_words *words, uint32_t slot)
{
    return &words->uses.at[id_map_get(&words->index, slot)];
}

/* Fills `uses`, from the programs. False, reported, where an instruction is for no op's word. */
bool sync_words_collect(struct sync_words *words);

struct sync_point sync_use_point(const struct sync_words *words, uint32_t slot, enum sync_use use);
bool sync_is_used(const struct sync_words *words, uint32_t slot, enum sync_use use);

/* Whether the slot is the word of an event that crosses the super kernel's border. */
bool sync_is_outer(const struct sync_subject *subject, const struct slot *slot);

/* One slot of an op. */
struct sync_word {
    struct sync_checker *checker;
    const struct sync_words *words;
    const struct slot *slot;
    uint32_t place;  /* of the op */
    uint32_t number; /* of the slot in those of the subject; one more in the entry */
    uint32_t index;  /* among the op's slots of this kind: the place in its `send` or `recv` */
};

const struct sync_point *sync_word_call(const struct sync_word *word, enum core_type core);
/* The core type whose core 0 deals with the op's events: the cube's, if it has a part there. */
enum core_type sync_word_main_core(const struct sync_word *word);

/* Reports at the op's event; `format` follows the entry's name. */
bool sync_report_word(const struct sync_word *word, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
/* Reports a reset that may come before a wait. Returns false. */
bool sync_report_early_reset(const struct sync_checker *checker, const struct sync_point *wait,
                             const struct sync_point *reset);
/* The slot that has the uses of the word. */
uint32_t sync_word_slot(const struct sync_word *word);
/* An instruction for the word, behind others, as text to be written into the program. */
const char *sync_word_instr(const struct sync_word *word, const char *before, const char *name);

/* To be freed by sync_circles_free. */
struct sync_circles *sync_circles_new(const struct sync_words *words);
void sync_circles_free(struct sync_circles *circles);
/* That what sends the event, which is waited for, does not wait for what is notified behind. */
bool sync_check_circle(const struct sync_word *word);

#endif
