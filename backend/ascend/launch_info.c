#include "backend/ascend/launch_info.h"
#include "ir/groups.h"
#include "ir/variants.h"

/* ----------------------------------------------------------------------------- ops ---- */

/* The kernels that are first called with the arguments of groups, by group; NULL where nothing is.
 * Released with mem_free. */
static const struct kernel **called_with(const struct launch_info *info)
{
    const struct kernel **called = mem_calloc(info->entry->groups.count + 1, sizeof *called);
    for (int core = 0; core < CORE_TYPES; core++) {
        const struct program *program = &info->entry->programs[core];
        for (uint32_t i = 0; i < program->instrs.count; i++) {
            const struct instr *instr = &program->instrs.at[i];
            if (instr->op == INSTR_call && !called[instr->number[0]])
                called[instr->number[0]] = module_kernel(info->module, instr->kernel);
        }
    }
    return called;
}

/* The arguments of a kind, which stand behind one another; an empty range where they would. */
static struct range events_of(const struct entry *entry, struct range args, enum arg_kind kind)
{
    uint32_t end = args.first + args.count, first = args.first, last;
    while (first < end && entry->args.at[first].kind != kind &&
           entry->args.at[first].kind != ARG_RECV)
        first++;
    last = first;
    while (last < end && entry->args.at[last].kind == kind)
        last++;
    return (struct range){first, last - first};
}

static void add_op(struct launch_info *info, uint32_t group, const struct kernel *kernel)
{
    struct launch_op op = {
        .kernel = kernel, .group = &info->entry->groups.at[group], .stream = NONE};
    op.sends = events_of(info->entry, op.group->args, ARG_SEND);
    op.recvs = events_of(info->entry, op.group->args, ARG_RECV);
    op.param = group_slot(info->entry, op.group);
    op.send = arg_slot(info->entry, op.sends.first);
    op.recv = arg_slot(info->entry, op.recvs.first);
    vec_push(&info->ops, op);
}

static void add_ops(struct launch_info *info)
{
    uint32_t count = entry_named_groups(info->entry);
    const struct kernel **called = called_with(info);
    for (uint32_t group = 0; group < count; group++)
        if (called[group])
            add_op(info, group, called[group]);
    mem_free(called);
}

/* ---------------------------------------------------------------------------- debugging ---- */

static bool is_listed(const char *list, size_t list_size, const char *word, size_t size)
{
    while (list_size > 0) {
        const char *comma = memchr(list, ',', list_size);
        size_t n = comma ? (size_t)(comma - list) : list_size;
        if (n == size && memcmp(list, word, size) == 0)
            return true;
        n += comma != NULL;
        list += n;
        list_size -= n;
    }
    return false;
}

static void add_debug_word(struct text *options, const char *word, size_t size)
{
    if (size == 0 || is_listed(options->at, options->size, word, size))
        return;
    text_printf(options, "%s%.*s", options->size ? "," : "", (int)size, word);
}

static void add_debugging(struct launch_info *info, const struct kernel *kernel)
{
    if (!kernel_writes_dump(info->module, kernel))
        return;
    uint32_t id = attr_string(info->module, kernel->attrs, W__debugOptions);
    const struct intern_name *options = &info->module->names.names[id];
    int64_t bytes = attr_int(info->module, kernel->attrs, W__debugBufSize, 0);
    info->debug_bytes = bytes > info->debug_bytes ? bytes : info->debug_bytes;
    for (const char *at = options->text, *end = at + options->size; at < end;) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma ? comma : end;
        add_debug_word(&info->debug_options, at, (size_t)(stop - at));
        at = stop + 1;
    }
}

/* -------------------------------------------------------------------------- super kernel ---- */

/* Groups of arguments stand in the order that `grouped` says. */
static void find_streams(struct launch_info *info, const struct members *members, uint32_t block,
                         const struct order *order)
{
    const uint32_t *ops = members->ops + members->first[block];
    const uint32_t *grouped = members->grouped + members->first[block];
    uint32_t count = members->first[block + 1] - members->first[block];
    for (uint32_t i = 0; i < info->ops.count && i < count; i++)
        info->ops.at[i].stream = order->stream[ops[grouped[i]]];
}

static void read_superkernel(struct launch_info *info, struct analyses *analyses,
                             const struct entry_place *at)
{
    const struct block *block = &at->graph->blocks.at[at->block];
    const struct order *order = analyses_order(analyses, info->module, at->graph);
    const struct members *members = analyses_members(analyses, info->module, at->graph);
    sk_options_of(&info->options, info->module, attr_string(info->module, block->attrs, W_options));
    find_streams(info, members, at->block, order);
    info->one_list = info->options.of[SK_stream_fusion].number == 0 ||
                     order_is_chain(order, members->ops + members->first[at->block],
                                    members->first[at->block + 1] - members->first[at->block]);
    info->early_start = info->options.of[SK_early_start].number != 0 && info->one_list;
}

/* ----------------------------------------------------------------------------- launches ---- */

void launch_info_init(struct launch_info *info, struct entry_finder *finder,
                      const struct entry *entry)
{
    const struct entry_place *at = entry_finder_at(finder, entry);
    *info = (struct launch_info){.module = finder->module, .entry = entry, .one_list = true};
    sk_options_defaults(&info->options);
    add_ops(info);
    for (uint32_t i = 0; i < info->ops.count; i++)
        add_debugging(info, info->ops.at[i].kernel);
    if (at)
        read_superkernel(info, &finder->analyses, at);
    info->early_start |= entry_starts_early(entry);
}

void launch_info_free(struct launch_info *info)
{
    text_free(&info->debug_options);
    vec_free(&info->ops);
}

bool launch_info_is_dynamic(const struct launch_info *info)
{
    for (uint32_t i = 0; i < info->ops.count; i++)
        if (kernel_is_dynamic(info->module, info->ops.at[i].kernel))
            return true;
    return false;
}

static bool feeds_barriers(const struct launch_info *info)
{
    if (info->options.of[SK_feed_sync_all].number != 0)
        return true;
    for (int core = 0; core < CORE_TYPES; core++)
        for (uint32_t i = 0; i < info->entry->programs[core].instrs.count; i++)
            if (info->entry->programs[core].instrs.at[i].op == INSTR_feed_sync)
                return true;
    return false;
}

static void add_words(const struct sk_setting *list, struct arena *arena,
                      struct file_names *options)
{
    struct sk_setting rest = *list;
    const char *word;
    size_t size;
    while (sk_option_next(&rest, &word, &size))
        if (size > 0)
            vec_push(options, arena_strndup(arena, word, size));
}

void launch_info_compile_options(const struct launch_info *info, struct arena *arena,
                                 struct file_names *options)
{
    if (launch_info_is_dynamic(info))
        vec_push(options, "-D__SUPER_KERNEL_DYNAMIC_BLOCK_NUM__");
    if (info->early_start) {
        vec_push(options, "-D__ASCENDC_ENABLE_SET_NEXT_TASK_START");
        vec_push(options, "-D__ASCENDC_ENABLE_WAIT_PRE_TASK_END");
        vec_push(options, "-D__ASCENDC_SUPERKERNEL_EARLY_START_V2");
    }
    if (feeds_barriers(info))
        vec_push(options, "-D__ASCENDC_SUPERKERNEL_AUTO_SYNC_ALL__");
    vec_push(options, launch_info_dumps(info) ? "-DASCENDC_DUMP" : "-DASCENDC_DUMP=0");
    add_words(&info->options.of[SK_compile_options], arena, options);
}
