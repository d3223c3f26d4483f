/* Fuzz target of tables of launches as JSON: any bytes are read as such a table; of what can be
 * read it is found whether launches side by side can hang, and printed.
 *
 * With -fsanitize=fuzzer it is a libFuzzer target. With -DREPLAY it has a plain main that runs the
 * files named as arguments. */
#include "frontend/launches/task_splits.h"
#include "frontend/launches/task_table.h"
#include "tests/fuzz/print_diags.h"
#include "tests/fuzz/replay.h"

#include <stdlib.h>
#include <string.h>

static void need_reason(bool ok, struct diags *diags)
{
    if (ok || diags->counts[SEVERITY_ERROR])
        return;
    fprintf(stderr, "a table is refused, and nothing says why\n");
    abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct source source;
    struct diags diags;
    struct task_table table = {.n_groups = 0};
    struct task_splits splits = {.verdict = LAUNCHES_SAFE};
    struct text text = {NULL, 0, 0};
    char *copy = mem_realloc(NULL, size + 1, 1);
    if (size)
        memcpy(copy, data, size);
    copy[size] = '\0';
    diags_init(&diags, &source, "launches.json");
    if (source_init_foreign(&source, "launches.json", copy, size)) {
        bool ok = task_table_read(&table, &source, &diags);
        need_reason(ok, &diags);
        if (ok && task_splits_find(&splits, &table, &diags))
            task_splits_print(&text, &splits, &table);
        print_diags(&diags);
    }
    text_free(&text);
    task_splits_free(&splits);
    task_table_free(&table);
    source_free(&source);
    diags_free(&diags);
    mem_free(copy);
    return 0;
}
