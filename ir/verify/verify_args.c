/* The verifier's part for the arguments of entries: words that there are, values of the graph. That
 * they are those of the ops is another question: an op may have no kernel yet. */
#include "ir/groups.h"
#include "ir/verify/verify_internal.h"

/* ----------------------------------------------------------------------------- words ---- */

static const uint32_t arg_words[] = {W_workspace, W_tiling,    W_tiling_key,     W_block_num,
                                     W_lock,      W_profiling, W_sync_workspace, W_tracing};

static bool is_arg_word(uint32_t word)
{
    for (size_t i = 0; i < sizeof arg_words / sizeof arg_words[0]; i++)
        if (arg_words[i] == word)
            return true;
    return false;
}

static void unknown_word(struct verifier *verifier, struct span span, uint32_t word)
{
    struct suggest suggest = name_suggest(verifier->module, word);
    if (!diag_at(verifier->diags, DIAG_unknown_group, span, "'%.*s' is no argument of an entry",
                 NAME(verifier->module, word)))
        return;
    for (size_t i = 0; i < sizeof arg_words / sizeof arg_words[0]; i++)
        name_offer(&suggest, verifier->module, arg_words[i]);
    if (word == W_ffts)
        diag_help(verifier->diags, "slot 0 is always 'ffts', which is not written");
    else
        diag_suggest(verifier->diags, &suggest);
}

void verify_arg_words(struct verifier *verifier, const struct entry *entry)
{
    for (uint32_t g = 0; g < entry->groups.count; g++) {
        const struct arg_group *group = &entry->groups.at[g];
        for (uint32_t i = 0; i < group->args.count; i++) {
            const struct arg *arg = group_arg(entry, group, i);
            if (arg->kind == ARG_WORD && !is_arg_word(arg->id))
                unknown_word(verifier, locate_arg(verifier->module, group, i), arg->id);
        }
    }
}

/* ---------------------------------------------------------------------------- values ---- */

/* The values of the graph are marked. */
static bool is_value(const struct verifier *verifier, uint32_t name)
{
    return verifier->marks[name].stamp == verifier->stamp;
}

static void unknown_value(struct verifier *verifier, const struct graph *graph, struct span span,
                          uint32_t name)
{
    const struct module *module = verifier->module;
    if (!diag_at(verifier->diags, DIAG_unknown_value, span, "graph '@%.*s' has no value '%%%.*s'",
                 NAME(module, graph->name), NAME(module, name)))
        return;
    struct suggest suggest = name_suggest(module, name);
    suggest.before = "%";
    if (diag_wants_suggestion(verifier->diags))
        for (uint32_t i = 0; i < graph->values.count; i++)
            if (graph->values.at[i].def != DEF_MISSING)
                name_offer(&suggest, module, graph->values.at[i].name);
    diag_suggest(verifier->diags, &suggest);
}

static void verify_arg(struct verifier *verifier, const struct graph *graph,
                       const struct entry *entry, const struct arg_group *group, uint32_t index)
{
    const struct arg *arg = group_arg(entry, group, index);
    const uint32_t *names = arg->kind == ARG_LIST ? entry->listed.at + arg->id : &arg->id;
    uint32_t count = arg->kind == ARG_LIST ? arg->count : arg->kind == ARG_VALUE;
    for (uint32_t i = 0; i < count; i++)
        if (!is_value(verifier, names[i]))
            unknown_value(verifier, graph, locate_arg(verifier->module, group, index), names[i]);
}

static void verify_values(struct verifier *verifier, const struct graph *graph,
                          const struct entry *entry)
{
    for (uint32_t g = 0; g < entry->groups.count; g++) {
        const struct arg_group *group = &entry->groups.at[g];
        if (group->name != NONE && !group->word && !is_value(verifier, group->name))
            unknown_value(verifier, graph, locate_group(verifier->module, group), group->name);
        for (uint32_t i = 0; i < group->args.count; i++)
            verify_arg(verifier, graph, entry, group, i);
    }
}

static void mark_values(struct verifier *verifier, const struct graph *graph)
{
    marks_clear(verifier);
    for (uint32_t i = 0; i < graph->values.count; i++)
        if (graph->values.at[i].def != DEF_MISSING)
            marks_set(verifier, graph->values.at[i].name, i, NULL);
}

void verify_arg_values(struct verifier *verifier)
{
    const struct module *module = verifier->module;
    for (uint32_t i = 0; i < module->graphs.count && module->entries.count; i++) {
        const struct graph *graph = &module->graphs.at[i];
        bool marked = false;
        for (uint32_t b = 0; b < graph->blocks.count; b++) {
            const struct entry *entry = block_entry(module, &graph->blocks.at[b]);
            if (!entry)
                continue;
            if (!marked)
                mark_values(verifier, graph);
            marked = true;
            verify_values(verifier, graph, entry);
        }
    }
}
