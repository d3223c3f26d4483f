/* skrt: the virtual device of the host target.
 *
 * Three audiences share this header: sub-kernels (the first part), the entries that skirc
 * generates (the second), and whoever launches them (the third). A launch runs one function on
 * every core of the virtual device, with the barriers and flags of docs/device-model.md.
 */
#ifndef SKRT_H
#define SKRT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum skrt_dtype {
#define DTYPE(name, ...) SKRT_##name,
#include "dtypes.def"
#undef DTYPE
    SKRT_DTYPE_COUNT
};

enum skrt_format { SKRT_ND, SKRT_FRACTAL_NZ };

enum skrt_core_type { SKRT_AIC, SKRT_AIV, SKRT_CORE_TYPES };

/* One core of a running launch. Opaque; valid only during the launch it belongs to.
 *
 * A core is not a thread: it may go on in another thread after any function of this header that
 * can block. Code that runs on a core must not hold thread-local state (or a lock of its thread)
 * across such a call. Its stack has 256 KiB, with an inaccessible page below. */
typedef struct skrt_core skrt_core;

/* ------------------------------------------------------------------ for sub-kernels ---- */

/* A sub-kernel's part for one core type. `args_offset` is the index of its first 64-bit slot in
 * the launch's parameter array. */
typedef void skrt_kernel_fn(skrt_core *core, uint64_t args_offset);

/* The launch's parameter slots, beginning at `args_offset`. What lies behind the last slot is not
 * checked; a call whose `args_offset` is behind it is refused. */
uint64_t *skrt_args(const skrt_core *core, uint64_t args_offset);

/* Index of this core among those that run the current sub-kernel's part, below
 * skrt_block_num(). For AIV-only kernels it counts AIVs; in the vector part of a mixed kernel it
 * counts AI cores, and skrt_sub_block_idx() tells the AIVs of one AI core apart. In an entry,
 * outside of calls, they describe the launch: AI cores, and the AIVs of one. */
uint32_t skrt_block_idx(const skrt_core *core);
uint32_t skrt_block_num(const skrt_core *core);
uint32_t skrt_sub_block_idx(const skrt_core *core); /* 0 on an AIC and in AIV-only kernels */
/* AIVs per AI core of the launch; 1 on an AIC and in AIV-only kernels. It is 2 also where a kernel
 * was built for one: both run its vector part then, with the same block index. Such a kernel shares
 * its work out by both numbers, or does none where skrt_sub_block_idx() is not 0; its own flags and
 * barriers need both. */
uint32_t skrt_sub_block_num(const skrt_core *core);

/* Flags between the two parts of one mixed sub-kernel, apart from those of the entry: an AIC
 * releases each AIV of its AI core (c2v), an AIV its AIC (v2c). They count to 15. */
void skrt_kernel_set_c2v(skrt_core *core);
void skrt_kernel_wait_c2v(skrt_core *core);
void skrt_kernel_set_v2c(skrt_core *core);
void skrt_kernel_wait_v2c(skrt_core *core);

/* A barrier over all cores that run the current sub-kernel's part on this core's type. It belongs
 * to this call: cores of the same type that are in another call have nothing to do with it. */
void skrt_kernel_sync_all(skrt_core *core);

/* How wide vectors a kernel may compute with, each level with all before it. Only x86-64 has levels
 * above the first, which is what every machine of the architecture has: AVX2; AVX-512 F, BW, DQ and
 * VL; AVX-512 VNNI. */
enum skrt_vectors { SKRT_VECTORS_BASE, SKRT_VECTORS_AVX2, SKRT_VECTORS_AVX512, SKRT_VECTORS_VNNI };
/* What this machine has, or less where SKRT_VECTORS in the environment, which is read once, says
 * so: `base`, `avx2`, `avx512` or `vnni`. */
enum skrt_vectors skrt_vector_level(void);
/* From now on no more than this, whatever the environment says; not while kernels run. Returns what
 * is left. */
enum skrt_vectors skrt_limit_vectors(enum skrt_vectors most);

/* For sub-kernels that are built for early start (docs/device-model.md). Each core that runs the
 * sub-kernel calls them once: the first after its initialisation, before it touches anything that
 * the op before it may use; the second when all that others may read of it is written. It blocks
 * until the op before is complete, as the call says that is to be waited for. In an entry whose
 * call does not say so, or where a core does not do what it says, they are misuse; where the
 * sub-kernel is launched alone, they do nothing. */
void skrt_kernel_wait_previous(skrt_core *core); /* early_start = [wait] */
void skrt_kernel_next_start(skrt_core *core);    /* early_start = [set] */

enum { SKRT_MAX_RANK = 8, SKRT_MAX_ATTRS = 16, SKRT_ATTR_KEY = 24 };

/* A tensor, an operand that is absent, whose parameter is 0, or one that is a list of tensors. */
enum skrt_form { SKRT_TENSOR, SKRT_ABSENT, SKRT_LIST };

/* What a `tiling` parameter points to: the tensors of the op (operands in the order of the kernel's
 * parameters, then results) and its attributes that are numbers, texts or lists of integers. */
struct skrt_tensor {
    uint32_t dtype;  /* enum skrt_dtype */
    uint32_t format; /* enum skrt_format */
    uint32_t rank;
    uint32_t form;               /* enum skrt_form; only of a tensor there is what stands above */
    int64_t dims[SKRT_MAX_RANK]; /* logical (ND) dimensions, outermost first */
    uint64_t count;              /* of the tensors of a list */
    const struct skrt_tensor *list;
};

/* The parameter of a list is the address of a table: the offset in bytes of its addresses; for each
 * tensor a word with its rank (low half) and index (high half), and a word for each dimension; the
 * addresses, one for each tensor. */
static inline uint32_t skrt_list_count(const uint64_t *table)
{
    uint64_t end = table[0] / sizeof *table;
    uint32_t count = 0;
    for (uint64_t at = 1; at < end; at += 1 + (uint32_t)table[at])
        count++;
    return count;
}

/* The rank of the n-th tensor; `*dims` are its dimensions. */
static inline uint32_t skrt_list_shape(const uint64_t *table, uint32_t n, const int64_t **dims)
{
    uint64_t at = 1;
    for (; n > 0; n--)
        at += 1 + (uint32_t)table[at];
    *dims = (const int64_t *)(table + at + 1);
    return (uint32_t)table[at];
}

static inline void *skrt_list_address(const uint64_t *table, uint32_t n)
{
    return (void *)(uintptr_t)table[table[0] / sizeof *table + n];
}

struct skrt_attr {
    char key[SKRT_ATTR_KEY]; /* NUL-terminated */
    int64_t i;               /* integers and booleans; a float's truncation */
    double f;                /* floats; an integer's value */
    const char *text;        /* of a text, NUL-terminated; else NULL */
    const int64_t *ints;     /* of a list; else NULL */
    uint64_t count;
};

struct skrt_tiling {
    uint32_t n_tensors;
    uint32_t n_attrs;
    const struct skrt_tensor *tensors;
    const struct skrt_attr *attrs;
};

/* ---------------------------------------------------------- for generated entries ---- */

/* Where an instruction stands, for reports. All strings live as long as the entry's code. */
struct skrt_site {
    const char *text; /* the instruction in .skir spelling */
    const char *op;   /* for a call: the operator, else NULL */
};

typedef void skrt_entry_fn(skrt_core *core);

enum skrt_core_type skrt_core_type(const skrt_core *core);
/* Index among the launched cores of its type; for an AIV, block * AIVs per AI core + sub. */
uint32_t skrt_core_index(const skrt_core *core);

/* Runs `fn` if this core's index is below `blocks`. `aivs` is the number of AIVs per AI core that
 * the sub-kernel was built for (0 for a cube-only kernel; an AIV-only kernel passes `flat`:
 * its blocks count AIVs over all AI cores). In a launch with more AIVs per AI core all of them run
 * it. A call that the launch has too few cores for, with no blocks or with parameters behind the
 * last slot is misuse.
 *
 * Every core of a type must execute the same sequence of calls (cores that a call leaves out
 * execute it too), with the same blocks, aivs and flat; fn may differ. Only so is the n-th call of
 * one core the n-th of another, which skrt_kernel_sync_all relies on. */
struct skrt_call {
    skrt_kernel_fn *fn;
    uint64_t args_offset;
    uint32_t blocks;
    uint8_t aivs;
    bool flat;
};
void skrt_call(skrt_core *core, const struct skrt_call *call, const struct skrt_site *site);

/* The same for a sub-kernel that does halves of the entry's barriers itself; `early` says which,
 * and behind which core types' parts it waits. Cores that the call leaves out do them here. */
enum { SKRT_EARLY_WAIT_AIC = 1, SKRT_EARLY_WAIT_AIV = 2, SKRT_EARLY_SET = 4 };
void skrt_call_early(skrt_core *core, const struct skrt_call *call, unsigned early,
                     const struct skrt_site *site);

/* A dynamic kernel on one core type: what it is for each tiling key. */
struct skrt_variant {
    uint64_t key;
    skrt_kernel_fn *fn; /* NULL: it has no part for this core type */
    uint8_t aivs;       /* as in a call */
    bool flat;
};
struct skrt_select {
    const struct skrt_variant *variants;
    uint32_t n_variants;
    /* Parameter slots with the addresses of aligned 64-bit words: of the tiling key here, of the
     * block number in the next slot, of the lock in the one after. */
    uint64_t slot;
};
/* Waits until the lock is not 0, then chooses the variant and the number of blocks of this core's
 * next skrt_call_selected. A key without a variant is misuse. */
void skrt_select(skrt_core *core, const struct skrt_select *select, const struct skrt_site *site);
/* The call of what was selected. Of `call`, `fn` is not used, and the shape is the largest that the
 * variants have: one that asks for more blocks than that allows is misuse, as is none selected. */
void skrt_call_selected(skrt_core *core, const struct skrt_call *call,
                        const struct skrt_site *site);

/* The device model's synchronisation; each does nothing but what docs/device-model.md says. */
void skrt_arrive(skrt_core *core, enum skrt_core_type group, const struct skrt_site *site);
void skrt_await(skrt_core *core, enum skrt_core_type group, const struct skrt_site *site);
void skrt_set_c2v(skrt_core *core, const struct skrt_site *site);
void skrt_wait_c2v(skrt_core *core, const struct skrt_site *site);
void skrt_set_v2c(skrt_core *core, const struct skrt_site *site);
void skrt_wait_v2c(skrt_core *core, const struct skrt_site *site);
void skrt_pipe_barrier(skrt_core *core, const struct skrt_site *site);
/* Events that reach outside the kernel: `slot` indexes the parameter array, whose value is the
 * address of an aligned 64-bit word. They are executed by the core of its type with index 0, and do
 * nothing on all others. Notify stores 1, reset 0; wait goes on once the word is not 0, whoever
 * stored it. When all other cores are blocked or finished too, a wait is a deadlock in a
 * launch without a timeout; with one it goes on until then. */
void skrt_notify(skrt_core *core, uint64_t slot, const struct skrt_site *site);
void skrt_wait_event(skrt_core *core, uint64_t slot, const struct skrt_site *site);
void skrt_reset(skrt_core *core, uint64_t slot, const struct skrt_site *site);
/* Fed barriers (docs/device-model.md). The parameter slot holds the address of `size` bytes, 8-byte
 * aligned; `size` is a multiple of 128, and of 128 for each block where it is cleared. */
struct skrt_feed {
    uint64_t slot, size;
    uint64_t index; /* of the call in its program */
    const struct skrt_call *call;
};
enum skrt_feed_step { SKRT_FEED_BEGIN, SKRT_FEED_END, SKRT_FEED_COMPLEMENT };
void skrt_clear_workspace(skrt_core *core, uint64_t slot, uint64_t size,
                          const struct skrt_site *site);
void skrt_feed_sync(skrt_core *core, enum skrt_feed_step step, const struct skrt_feed *feed,
                    const struct skrt_site *site);
/* Time records. `slot` and the one behind it hold the address of a buffer, a struct skrt_profile
 * aligned to 8 bytes, and its size in bytes; where that is too small for the struct, or the address
 * is 0, nothing is recorded. Ops are recorded on the cores that they include, events on the core
 * that executes them. The buffer's memory is zeroed before the launch. */
enum skrt_phase { SKRT_BEGIN, SKRT_END };
enum skrt_profile_kind {
    SKRT_PROFILE_KERNEL, /* the numbers of the language */
    SKRT_PROFILE_OP,
    SKRT_PROFILE_NOTIFY,
    SKRT_PROFILE_WAIT,
    /* What only the runtime records (skrt_launch.records): a core was blocked, by what. */
    SKRT_PROFILE_BARRIER,      /* an await */
    SKRT_PROFILE_FLAG,         /* a wait for a flag of the entry */
    SKRT_PROFILE_KERNEL_FLAG,  /* or of the sub-kernel */
    SKRT_PROFILE_FULL_BARRIER, /* one of the sub-kernel */
    SKRT_PROFILE_FEED,         /* a fed one, on a core that feeds it */
    SKRT_PROFILE_TILING,       /* a select */
    SKRT_PROFILE_KINDS
};
struct skrt_profile_record {
    uint64_t ns;    /* of a monotonic clock, since the launch began */
    uint32_t index; /* of the op; where a core was blocked, of the call that it is in or that comes
                     * next, from 0 */
    uint32_t core;  /* among those of its type */
    uint8_t type;   /* enum skrt_core_type */
    uint8_t kind;   /* enum skrt_profile_kind */
    uint8_t phase;  /* enum skrt_phase */
    bool inside;    /* it was blocked in a call */
    uint8_t reserved[4];
};
struct skrt_profile {
    uint64_t count;   /* records below; those of one core stand in turn */
    uint64_t dropped; /* for which there was no room */
    struct skrt_profile_record records[];
};
void skrt_profile(skrt_core *core, uint64_t slot, enum skrt_phase phase, uint32_t index,
                  enum skrt_profile_kind kind, const struct skrt_site *site);
/* Where cores stand. The parameter slot holds the address of a line for each core, 8-byte aligned:
 * those of the AICs, then those of the AIVs; 0: nothing is recorded. Their memory is zeroed before
 * the launch; a core's line has its magic once the core has begun. */
enum { SKRT_TRACE_MAGIC = 0x54524b53 };
enum skrt_counter { SKRT_BARRIER, SKRT_FLAG };
struct skrt_trace_line {
    uint32_t magic;
    uint16_t core;       /* among those of its type */
    uint8_t type;        /* enum skrt_core_type */
    uint8_t fault;       /* of a check: 1 + its counter; 0: none */
    uint32_t index;      /* of the op */
    uint32_t state;      /* as docs/language.md numbers them */
    uint64_t count;      /* of traces so far */
    uint64_t time;       /* of the last one: nanoseconds since the launch began, or cycles */
    uint32_t counted[2]; /* arrivals, releases */
    uint32_t checked[2]; /* barriers passed, releases taken */
    uint32_t expected;   /* of a check that failed: what the counter should be, */
    uint32_t found;      /* what it is, */
    uint32_t other;      /* and of which core: type << 16 | index */
    uint32_t reserved;
};
/* A dump of traces of several launches has such a line before those of each launch. */
enum { SKRT_TRACE_NAME = 0x4e524b53 };
struct skrt_trace_name {
    uint32_t magic;
    char name[60]; /* of the entry, as much of it as there is room for */
};
void skrt_trace(skrt_core *core, uint64_t slot, uint32_t index, uint32_t state,
                const struct skrt_site *site);
/* Before an arrival or a release the core counts it; behind the wait for that, it checks that those
 * it waited for have counted as often as it has waited: else it was passed by something else, which
 * is misuse. */
void skrt_count(skrt_core *core, uint64_t slot, enum skrt_counter counter,
                const struct skrt_site *site);
void skrt_check(skrt_core *core, uint64_t slot, enum skrt_counter counter,
                const struct skrt_site *site);
/* Instructions without an effect on this target (preloads, cache maintenance). */
void skrt_hint(skrt_core *core, const struct skrt_site *site);

/* An entry as data, for skrt_run_rows: what `skirc compile` writes, without a compiler. Its
 * function is a jump there with the address of this behind the core. Objects have it as it is here:
 * what changes it changes the version.
 *
 * A row of a program is an instruction: it is the call of the function that has its name, with its
 * numbers as arguments, in their order. But the numbers of
 *   call, call_selected   are the kernel, by its place among those of the entry, the first slot of
 *                         the arguments, and the blocks;
 *   select                the kernel, and the first of its slots;
 *   clear_workspace       the slot; the bytes are the entry's;
 *   feed_sync             the step, the slot, the index of the call in the program, and its row. */
enum skrt_row_op {
    SKRT_ROW_hint,
    SKRT_ROW_call,
    SKRT_ROW_select,
    SKRT_ROW_call_selected,
    SKRT_ROW_arrive,
    SKRT_ROW_await,
    SKRT_ROW_set_c2v,
    SKRT_ROW_set_v2c,
    SKRT_ROW_wait_c2v,
    SKRT_ROW_wait_v2c,
    SKRT_ROW_notify,
    SKRT_ROW_wait_event,
    SKRT_ROW_reset,
    SKRT_ROW_pipe_barrier,
    SKRT_ROW_clear_workspace,
    SKRT_ROW_feed_sync,
    SKRT_ROW_profile,
    SKRT_ROW_trace,
    SKRT_ROW_count,
    SKRT_ROW_check,
};
struct skrt_row {
    uint8_t op;         /* enum skrt_row_op */
    uint8_t early;      /* of a call: SKRT_EARLY_... */
    uint8_t aivs, flat; /* of a call, as in struct skrt_call */
    uint32_t site;      /* by its place among those of the entry */
    uint32_t numbers[4];
};
/* A kernel for one core type, or a copy of it. */
struct skrt_row_kernel {
    skrt_kernel_fn *fn;                  /* NULL: it is dynamic, */
    const struct skrt_variant *variants; /* with these */
    uint64_t n_variants;
};
struct skrt_row_program {
    const struct skrt_row *rows;
    uint64_t n_rows;
};
enum { SKRT_ROWS_VERSION = 1 };
struct skrt_rows {
    uint32_t version;
    uint32_t copies;    /* of each kernel, of which a core has that of its index modulo these */
    uint64_t stride;    /* rows of `kernels` for one kernel: not less */
    uint64_t workspace; /* of fed barriers, in bytes */
    const struct skrt_row_kernel *kernels;
    const struct skrt_site *sites;
    struct skrt_row_program programs[SKRT_CORE_TYPES];
};
/* It returns as soon as the core cannot go on, which needs no stack then: it is the last thing that
 * an entry does. */
void skrt_run_rows(skrt_core *core, const struct skrt_rows *rows);

/* For entries whose functions do not get their core: the one that this thread runs, or NULL. It is
 * another one behind each function that can block. */
skrt_core *skrt_this_core(void);
/* What such an entry keeps for a core while it runs; NULL at its begin. */
void skrt_keep(skrt_core *core, void *kept);
void *skrt_kept(const skrt_core *core);
/* Ends the launch as one that misuses an instruction; `why` is a line. */
void skrt_misuse(skrt_core *core, const char *why, const struct skrt_site *site)
    __attribute__((noreturn));

/* ------------------------------------------------------------------ for launchers ---- */

struct skrt_device;

struct skrt_device_config {
    uint32_t aic, aiv; /* cores of the device: at least one of them above 0, each at most 1024 */
    uint32_t threads;  /* host threads, at most one per core; 0: one per processor */
    uint32_t apart;    /* not 0: it runs launches that take none of its cores (skrt_launch) */
};

/* Starts the device's threads. NULL, with errno set, where they cannot be had. */
struct skrt_device *skrt_device_open(const struct skrt_device_config *config);
/* Ends the threads and releases everything; for NULL does nothing. After a launch that ended with
 * SKRT_TIMEOUT, as long as a core still runs, it does nothing either: what runs cannot be stopped,
 * and what it uses (parameters, code) must not go away. Leave the process with _exit then. */
void skrt_device_close(struct skrt_device *device);

/* What a race check must know of an entry: which op each call is a part of, and which orders are
 * required. Ops are numbered from 0. While the launch runs, the check follows what each core knows
 * by the rules of docs/device-model.md, and finds calls that start without knowing that an op which
 * must be complete before is so on all cores that it includes, and calls behind one that has not
 * drained. The launch goes on; it takes longer, and for each core the memory of a word per core. */
struct skrt_order {
    uint32_t before, op; /* `before` must be complete before `op` starts */
};
struct skrt_race_check {
    uint32_t n_ops;
    const char *const *names; /* per op, for reports; may be NULL */
    /* The ops of the calls of each core type's program, in turn. A program that has more calls
     * cannot be followed: it is misuse. An op has one call at most on each type. */
    uint32_t n_calls[SKRT_CORE_TYPES];
    const uint32_t *calls[SKRT_CORE_TYPES];
    uint32_t n_orders;
    const struct skrt_order *orders;
};

struct skrt_launch {
    const char *name; /* for reports; may be NULL */
    /* Either an entry, which every core runs from the top ... */
    skrt_entry_fn *entry;
    /* ... or (entry == NULL) the parts of one sub-kernel as a launch of its own. A part without
     * a function does not exist. */
    struct skrt_call parts[SKRT_CORE_TYPES];
    /* What reports call them, and the op; where there is no text, `sub-kernel`, and the name. */
    struct skrt_site part_sites[SKRT_CORE_TYPES];
    uint32_t blocks;    /* AI cores of the launch; for (0, 1) shapes: AIVs */
    uint8_t aics, aivs; /* per AI core: (1, 0), (0, 1), (1, 1) or (1, 2) */
    uint64_t *params;
    size_t n_params;
    uint64_t timeout_ms; /* 0: none */
    /* Nobody but the launches that run beside it sends its events: where none of them can, waiting
     * for one is a deadlock in spite of a timeout. */
    bool closed;
    /* No block waits for another one. So they need not have their cores all at once, and each gives
     * its cores back when it has ended; else all do at the end of the launch. */
    bool waves;
    /* It takes none of the device's cores, but has others, as many as these, to itself: for what
     * does not run on cores at all. One such launch runs at a time; it waits for no event. */
    bool apart;
    /* Barriers of kernels are over all launched cores of the type, as on the NPU; else over those
     * that the call includes. */
    bool full_barriers;
    const struct skrt_race_check *race; /* for entries; NULL: no check */
    /* Where the runtime itself records times, as skrt_profile does, and the size in bytes: where
     * cores are blocked, but for events; of a launch without an entry, also the kernel and the op,
     * whose index is 0. It may be the buffer that the entry writes to. NULL: there is none. */
    struct skrt_profile *records;
    uint64_t records_size;
};

enum skrt_status {
    SKRT_OK,
    SKRT_INVALID,  /* the launch does not fit the device; nothing was run */
    SKRT_DEADLOCK, /* every unfinished core is blocked */
    SKRT_TIMEOUT,  /* not finished in time */
    SKRT_OVERFLOW, /* a flag was set more than 15 times ahead */
    SKRT_LEFT_SET, /* a flag was left set at the end */
    SKRT_MISUSE,   /* an instruction that this core cannot execute: wrong core type, bad operand */
    SKRT_RACE,     /* all cores have finished, but an order was not enforced (race check) */
    SKRT_STOPPED,  /* it was stopped, or has not begun, because of another launch */
};

struct skrt_result {
    enum skrt_status status;
    char *report;   /* text, several lines, for all but SKRT_OK: what each core did; free() it */
    double begin;   /* seconds from the call to when it began */
    double seconds; /* that it took */
};

/* Runs the launch to its end and returns its status. One call at a time per device; after anything
 * but SKRT_OK, SKRT_INVALID, SKRT_LEFT_SET or SKRT_RACE the device is unusable: further launches
 * are refused. Without a timeout a core that never comes to an end is waited for. */
enum skrt_status skrt_launch(struct skrt_device *device, const struct skrt_launch *launch,
                             struct skrt_result *result);

/* A graph with gears, in the object that `skirc compile` makes of it, under the graph's name. */

/* A dimension of a parameter that depends on gears. */
struct skrt_gear_dim {
    uint32_t param, dim; /* from 0 */
    const char *name;    /* of the parameter */
};
/* A super kernel: what skrt_launch wants to know of it. */
struct skrt_gear_launch {
    const char *name;
    skrt_entry_fn *entry;
    uint32_t blocks;
    uint8_t aics, aivs; /* per AI core */
    uint32_t n_params;
    uint64_t workspace; /* bytes of the slot `sync_workspace` */
};
/* A combination. They are sorted by the values of the gears. */
struct skrt_gear_case {
    const int64_t *shape; /* by dimension */
    const char *graph;    /* that was compiled for it */
    uint64_t elements;    /* of all parameters; of those whose shape is not known, none */
    uint32_t n_launches;  /* in the order of the text */
    const struct skrt_gear_launch *launches;
};
struct skrt_gears {
    const char *graph;
    uint32_t n_dims, n_cases;
    const struct skrt_gear_dim *dims;
    const struct skrt_gear_case *cases;
    uint64_t seed;        /* with which no two combinations have one slot */
    uint32_t shift;       /* the upper bits of a hash that are left are the slot */
    const uint8_t *slots; /* index of the combination that can be meant */
};

/* The combination of a shape, whose numbers are those of gears->dims, in their order; NULL where
 * there is none. It takes as long however many there are. */
const struct skrt_gear_case *skrt_gears_find(const struct skrt_gears *gears, const int64_t *shape);
/* The combination that has room for tensors of the shape: none of its dimensions is smaller. Of
 * several the one with the fewest elements, of these the first. NULL where there is none. */
const struct skrt_gear_case *skrt_gears_fit(const struct skrt_gears *gears, const int64_t *shape);
/* Writes which dimension no combination has, and the values that it has in them. */
void skrt_gears_misfit(const struct skrt_gears *gears, const int64_t *shape, char *text,
                       size_t size);
/* By whose upper bits a combination's slot is found. */
uint64_t skrt_gears_hash(const int64_t *shape, uint32_t n, uint64_t seed);

/* An event of launches as a whole: an aligned 64-bit word, which is not 0 when it has come. */
struct skrt_signal {
    uint64_t *word;
    const char *name; /* for reports; may be NULL */
};

struct skrt_queued {
    struct skrt_launch launch; /* its timeout begins when it does */
    uint32_t stream;
    uint32_t n_waits, n_sends;
    /* It begins when these words are not 0: before the call, or since a launch of the queue has
     * stored that. */
    const struct skrt_signal *waits;
    const struct skrt_signal *sends; /* these become 1 when it has ended */
};

struct skrt_queue {
    uint32_t n_launches, n_streams;
    const struct skrt_queued *launches; /* those of a stream begin in this order */
    const char *const *streams;         /* names, for reports */
    /* Cores that become free go to launches in turns; else to the one that began first, as far as
     * it can use them. Launches that may keep each other's cores are found to do so sooner. */
    bool turns;
};

/* Runs launches of several streams side by side, as docs/device-model.md says; returns when all
 * have ended, or nothing runs any more since one was stopped. `results` has room for one for each:
 * where they are stopped, that of the launch at fault has the status and the report, which shows
 * all streams, and those that had not ended have SKRT_STOPPED. A launch that is SKRT_LEFT_SET or
 * SKRT_RACE has ended, and the others go on. Returns the status of the launch at fault, or else
 * SKRT_LEFT_SET or SKRT_RACE, in this order, where a launch has it; the device afterwards is as
 * after skrt_launch. Where it is SKRT_INVALID, nothing was run: errno is ENOMEM where there is no
 * memory for stacks, else EINVAL. */
enum skrt_status skrt_launch_all(struct skrt_device *device, const struct skrt_queue *queue,
                                 struct skrt_result *results);

/* A short text for a status, for example "deadlock". */
const char *skrt_status_text(enum skrt_status status);

/* For signal handlers: writes to `fd` what the calling thread's core is running (launch, core,
 * instruction, op), with async-signal-safe calls only. Does nothing on other threads. */
void skrt_report_crash(int fd);
/* The same to memory, as a line that ends; returns its size, 0 on other threads. 512 bytes are
 * enough. */
size_t skrt_crash_text(char *text, size_t size);
/* Also for signal handlers: whether the address is directly below the stack of a core, of the
 * device that the calling thread belongs to: a kernel has used more than the 256 KiB there are. */
bool skrt_crash_is_overflow(const void *address);

#ifdef __cplusplus
}
#endif
#endif
