/* The twin: an entry's AscendC source, compiled as C++, on the virtual device. This stands between
 * kernel_operator.h, whose primitives call it, and skrt.h, which stands before it. Tables that
 * skirc makes of the entry (host_emulation.c) say which instruction a primitive is, by its
 * line of the source, and what functions of kernels are. They are for reports, and to count calls;
 * what a core does, and whether it does it, is up to the source. Where the two differ, it is
 * misuse. */
#ifndef BACKEND_ASCEND_TWIN_TWIN_H
#define BACKEND_ASCEND_TWIN_TWIN_H

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------ tables ---- */

enum { TWIN_NONE = UINT32_MAX, TWIN_LOCAL = 512 };

/* Where an instruction's statement begins; it goes up to the next one's. */
struct twin_line {
    uint32_t line, instr;
};

/* A call of the program, in addition to its row among the skrt_calls. */
struct twin_call {
    uint32_t instr;
    uint32_t symbol;               /* of the kernel's function */
    skrt_kernel_fn *const *copies; /* by copy */
    unsigned early;                /* as skrt_call_early has it */
    bool stub;                     /* its function is in the source, and does nothing */
    bool fed;
    /* Of a dynamic kernel, else NULL: by copy what it selects from, and by variant the symbol. */
    const struct skrt_select *selects;
    const uint32_t *variants;
    uint32_t select; /* instruction */
};

/* An instruction about a word in memory: of an event, or a lock. */
enum twin_event_kind { TWIN_RESET, TWIN_NOTIFY, TWIN_WAIT };
struct twin_event {
    uint32_t instr, slot;
    enum twin_event_kind kind;
};

struct twin_program {
    const struct skrt_site *sites; /* by instruction */
    const struct twin_line *lines;
    uint32_t n_lines, end_line; /* the statements end before this line */
    const struct twin_call *calls;
    const struct skrt_call *shapes; /* of the calls */
    uint32_t n_calls;
    const struct twin_event *events;
    uint32_t n_events;
};

/* A slot with the address of a word that others write too. A core does not see the word itself but
 * a copy of its own, as in a cache. Those of a tiling are adjacent: key, blocks, lock. */
enum twin_word_kind { TWIN_EVENT, TWIN_KEY, TWIN_BLOCKS, TWIN_LOCK };
struct twin_word {
    uint32_t slot;
    enum twin_word_kind kind;
};

struct twin_copy {
    uint64_t value, clean; /* as the source has it; and as memory had it */
};

/* A core of a launch. */
struct twin_core {
    skrt_core *core;
    const struct twin_entry *entry;
    const struct twin_program *program;
    uint32_t instr; /* the last that was known to be executed */
    uint32_t next;  /* call */
    uint64_t *params;
    struct twin_copy *words;
    uint32_t fed;       /* after the last call whose barriers it took part in without it */
    uint64_t selection; /* the slot of the tiling key that was read, or TWIN_NONE */
    uint64_t key, blocks;
    uint32_t variant;
    /* What the source writes there, of this core alone. */
    uint32_t early_config;
    uint64_t dynamic_blocks;
    bool feeding;
    uint32_t feed_index;
    unsigned char *feed_counter, *feed_base;
    unsigned char local[TWIN_LOCAL]; /* its local memory, as far as entries use it */
};

struct twin_entry {
    void (*run)(void); /* the source's function */
    struct twin_program programs[SKRT_CORE_TYPES];
    const struct twin_word *words;
    uint32_t n_words, n_slots;
    uint32_t n_cores[SKRT_CORE_TYPES];
    uint32_t copies;    /* of kernels' code */
    uint32_t feed_slot; /* of the workspace for fed barriers */
    uint64_t feed_room; /* that is there; 0: nothing is fed */
    uint64_t feed_size; /* of its counters */
    /* Room for each core, AIVs after AICs. */
    struct twin_core *cores;
    uint64_t *params;        /* n_slots for each */
    struct twin_copy *cache; /* n_words for each */
};

/* Runs the entry on a core. */
void skir_twin_run(skrt_core *core, const struct twin_entry *entry);

/* What a function of a kernel does, or of a copy of it: the calls that have `symbol`. */
void skir_twin_call(uint64_t args_offset, uint32_t symbol, uint32_t copy);

/* -------------------------------------------------------------------- primitives ---- */

/* Those that entries synchronise by, as the device has them; `line` is that of the statement. */
enum { TWIN_AIC_FLAG = 11, TWIN_AIV_FLAG = 12, TWIN_AIC_AIV_FLAG = 13, TWIN_AIV_ALL = 14 };
void skir_twin_set(uint64_t mode, uint64_t flag, unsigned line);
void skir_twin_wait(uint64_t flag, unsigned line);
void skir_twin_drain(unsigned line);
void skir_twin_sync_all(bool aivs_only, unsigned line);
void skir_twin_arrive(unsigned line);
void skir_twin_wait_previous(unsigned config, unsigned line);
/* Those that do nothing here. */
void skir_twin_hint(unsigned line);
void skir_twin_trap(unsigned line);

/* A line of the cache is written back, and read again; or the whole cache is written back. */
void skir_twin_clean(const volatile void *address);
void skir_twin_clean_all(unsigned line);

void skir_twin_feed_end(void);
void skir_twin_feed_complement(void);

/* Local memory, from address 0 on. */
void skir_twin_fill(const volatile void *to, const void *value, uint64_t size, uint64_t count);
void skir_twin_store(volatile void *to, const volatile void *from, uint64_t size);

uint64_t *skir_twin_params(void);
bool skir_twin_is_aic(void);
uint32_t skir_twin_block(void), skir_twin_blocks(void);
uint32_t skir_twin_sub(void), skir_twin_subs(void);
uint32_t skir_twin_index(void); /* among the cores of its type */
uint64_t skir_twin_cycle(void); /* 50 MHz */
struct twin_core *skir_twin_core(void);

#ifdef __cplusplus
}
#endif
#endif
