/* Fuzz target of the language and the passes: any bytes are parsed and printed, with their
 * comments, until the text no longer changes, which it must not the second time. A module that
 * passes the verifier goes through the pipeline `default`, without a library of sample kernels;
 * what that makes must pass the verifier again, print, and parse.
 *
 * With -fsanitize=fuzzer it is a libFuzzer target. With -DREPLAY it has a plain main that runs the
 * files named as arguments. */
#include "passes/manager/pipeline.h"
#include "tests/fuzz/mutate_lines.h"
#include "tests/fuzz/parts.h"
#include "tests/fuzz/print_diags.h"
#include "tests/fuzz/printed.h"
#include "tests/fuzz/replay.h"

#include <stdint.h>

static void check_lowering(struct parsed_module *parsed)
{
    struct pass_context context = {.module = parsed->module, .diags = &parsed->diags};
    switch (pipeline_lower(&context, NULL)) {
    case PIPELINE_OK: print_and_check(parsed, false); break;
    case PIPELINE_INPUT:
        if (parsed->diags.counts[SEVERITY_ERROR] == 0)
            give_up("a pass failed and did not say why", NULL);
        break;
    case PIPELINE_DEFECT: give_up("a pass made an invalid module", &parsed->diags); break;
    case PIPELINE_STOPPED: break;
    }
}

/* The comments of golden files mean something by their place. Printing gives one that stands within
 * a construct a line of its own, where it may mean something else. */
static bool has_golden_comments(const uint8_t *data, size_t size)
{
    for (size_t i = 0; i + 3 <= size; i++)
        if (memcmp(data + i, "//!", 3) == 0)
            return true;
    return false;
}

/* With what it includes, which is the second part (parts.h). */
static void try_including(const uint8_t *data, size_t size)
{
    struct parts parts;
    struct parsed_module parsed = {.module = NULL};
    parts_split(&parts, data, size);
    if (parts.count < 2)
        return;
    struct file_bytes text = copy_of(parts.at[0].text, parts.at[0].size);
    diags_init(&parsed.diags, &parsed.source, "test.skir");
    if (source_init(&parsed.source, "test.skir", text.data, text.size)) {
        parsed.source.reader = &parts.reader;
        parsed.module = parse_module(&parsed.source, &parsed.diags, &parsed.comments);
    }
    parsed.copy = text.data;
    if (parsed.module && infer_types(parsed.module, &parsed.diags))
        verify_module(parsed.module, &parsed.diags);
    print_diags(&parsed.diags);
    parsed_free(&parsed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct parsed_module parsed;
    try_including(data, size);
    parsed_init(&parsed, (const char *)data, size);
    if (parsed.module) {
        if (!has_golden_comments(data, size))
            print_and_check(&parsed, true);
        print_and_check(&parsed, false);
        bool inferred = infer_types(parsed.module, &parsed.diags);
        if (verify_module(parsed.module, &parsed.diags) && inferred)
            check_lowering(&parsed);
    }
    print_diags(&parsed.diags);
    parsed_free(&parsed);
    return 0;
}
