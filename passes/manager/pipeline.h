/* The passes that there are, those of passes.def and what is added to them; pipelines, which are
 * lists of passes, and how they run. */
#ifndef PASSES_MANAGER_PIPELINE_H
#define PASSES_MANAGER_PIPELINE_H

#include "ir/support/diag.h"
#include "ir/support/text.h"
#include "ir/support/vec.h"
#include "passes/manager/pass.h"

/* Those of the pipeline `default` in their order, and others anywhere between and behind. The rows
 * are not owned. */
struct pass_table {
    const struct pass **at;
    uint32_t count, capacity;
};

void pass_table_init(struct pass_table *table);
void pass_table_free(struct pass_table *table);

/* Adds a pass, which must outlive the table: behind that of a name and what was added behind it,
 * first of all for "", or last for NULL, outside of `default`. False, with one line of text, where
 * its row is wrong: the name is taken or none, a property is unknown. */
bool pass_table_add(struct pass_table *table, const struct pass *pass, const char *after,
                    char *error, size_t error_size);

/* The index of the pass of a name, NONE where there is none. */
uint32_t pass_table_find(const struct pass_table *table, const char *name, size_t size);

/* Offers all names that a list of passes can have. */
void pass_table_offer(const struct pass_table *table, struct suggest *suggest);

/* Passes to run, in order. Zero-initialised it is empty. */
struct pipeline {
    const struct pass **at;
    uint32_t count, capacity;
};

static inline void pipeline_add(struct pipeline *pipeline, const struct pass *pass)
{
    vec_push(pipeline, pass);
}

static inline void pipeline_free(struct pipeline *pipeline)
{
    vec_free(pipeline);
}

/* Appends what a list of the user's names (docs/command-line.md, "Lists of passes"). False, with a
 * text that suggests a similar name where it can, for a list that is wrong. */
bool pipeline_append(struct pipeline *pipeline, const struct pass_table *table, const char *list,
                     char *error, size_t error_size);
/* Makes a pipeline of a list of the passes of passes.def. Where the list is wrong, there is nothing
 * to be freed. */
bool pipeline_parse(struct pipeline *pipeline, const char *list, char *error, size_t error_size);

/* Called after each pass that succeeded. False ends the pipeline. */
typedef bool pipeline_hook(void *user, const struct pass *pass, double seconds);

enum pipeline_status {
    PIPELINE_OK,
    PIPELINE_INPUT,  /* diagnostics say what is wrong with the input */
    PIPELINE_DEFECT, /* a pass broke its contract; diagnostics say which */
    PIPELINE_STOPPED /* by the hook */
};

enum pipeline_status pipeline_run(const struct pipeline *pipeline, struct pass_context *context,
                                  pipeline_hook *hook, void *user);

/* The same for a list of the passes of passes.def, which must be right. */
enum pipeline_status pipeline_run_list(struct pass_context *context, const char *list);

/* Runs the pipeline `default`, of the passes of a table or (NULL) of passes.def, and the verifier
 * on what it made. */
enum pipeline_status pipeline_lower(struct pass_context *context, const struct pass_table *table);
/* The same for the part from the pass `first` to before `end`, of PASS_..., with what the table has
 * before these; the verifier where that is the end. */
enum pipeline_status pipeline_lower_part(struct pass_context *context,
                                         const struct pass_table *table, unsigned first,
                                         unsigned end);

#endif
