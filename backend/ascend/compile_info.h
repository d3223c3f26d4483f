/* What the host has to know of launches, read off entries and the super kernels that they are for,
 * and JSON of it. */
#ifndef BACKEND_ASCEND_COMPILE_INFO_H
#define BACKEND_ASCEND_COMPILE_INFO_H

#include "backend/ascend/source_map.h"
#include "backend/ascend/symbols.h"
#include "backend/target/backend.h"
#include "ir/core/sk_options.h"
#include "ir/support/file.h"
#include "ir/support/json.h"
#include "ir/support/text.h"

/* An op of the launch. An op without events has the slots that they would have. */
struct launch_op {
    const struct kernel *kernel;
    const struct arg_group *group;
    uint32_t stream;            /* name id of its label; NONE: the default stream, or not known */
    uint32_t param, send, recv; /* first slots: of all its arguments, of its events */
    struct range sends, recvs;  /* in entry->args */
};

struct launch_info {
    const struct module *module;
    const struct entry *entry;
    struct sk_options options; /* defaults where the entry is for no super kernel */
    bool one_list;             /* every op follows the one before it */
    bool early_start;          /* calls may start early */
    struct text debug_options; /* of kernels with a dump, each word once, joined by commas */
    int64_t debug_bytes;       /* the largest buffer of them */
    VEC(struct launch_op) ops; /* in the order of their slots; groups that nothing calls are none */
};

/* Of an entry of the finder's module, which is lowered. */
void launch_info_init(struct launch_info *info, struct entry_finder *finder,
                      const struct entry *entry);
void launch_info_free(struct launch_info *info);

/* Of the entry: AI cores, or AIVs where it has no others; copies of kernels' code; bytes of the
 * workspace of fed barriers. */
static inline uint32_t launch_info_blocks(const struct launch_info *info)
{
    return (uint32_t)attr_int(info->module, info->entry->attrs, W_block, 1);
}

static inline uint32_t launch_info_copies(const struct launch_info *info)
{
    return (uint32_t)attr_int(info->module, info->entry->attrs, W_split, 1);
}

static inline uint64_t launch_info_workspace(const struct launch_info *info)
{
    return (uint64_t)attr_int(info->module, info->entry->attrs, W_workspace, 0);
}

/* Whether a kernel writes a dump, and so the launch. */
static inline bool launch_info_dumps(const struct launch_info *info)
{
    return info->debug_options.size > 0;
}

/* Adds what the device compiler must be told of the launch: definitions that the source depends on,
 * then the words of the option compile-options. */
void launch_info_compile_options(const struct launch_info *info, struct arena *arena,
                                 struct file_names *options);

/* What compile info and metadata share: JSON about launches. */

struct info_json {
    struct json json;
    const struct module *module;
    struct symbols symbols;
    struct entry_finder finder;
    const void *user; /* of info_entries_write */
};

/* Members: the text of a name id; a kernel type as JSON has it; the name of an entry's kernel. */
void info_json_name(struct info_json *out, const char *key, uint32_t name);
void info_json_type(struct info_json *out, const char *key, enum kernel_type type);
void info_json_kernel_name(struct info_json *out, const char *key, const struct entry *entry);

/* A name, or a number where it is one. */
void info_json_label(struct info_json *out, uint32_t name);
/* A list of the events of these arguments: numbers where their names are numbers. */
void info_json_events(struct info_json *out, const struct launch_info *info, struct range events);

/* JSON of all entries of a module, and of the tables of its gears. */

/* Appends a value for each entry of the job's module, in a list where there are several. Of a
 * module with gears it is an object of that list, `entries`, and `gears`, a table for each graph
 * with them: which dimensions choose, what GE's options for them are, and what each combination
 * launches. */
typedef void info_entry(struct info_json *out, const struct launch_info *info);
enum backend_status info_entries_write(const struct emission_job *job, info_entry *put,
                                       const void *user);

#endif
