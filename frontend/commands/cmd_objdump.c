/* skirc objdump: the text form of an object. */
#include "backend/object/object.h"
#include "frontend/cli/output.h"
#include "frontend/commands/cmd.h"

#include <stdlib.h>

const struct option options_objdump[] = {
    {"output", 'o', OPTION_VALUE, "FILE", "write there instead of standard output"},
    {0},
};

enum exit_status cmd_objdump(struct invocation *invocation)
{
    char error[512], *bytes = NULL;
    struct text text = {NULL, 0, 0};
    const char *output = option_value(invocation, "output");
    FILE *stream = open_memstream(&bytes, &text.size);
    if (!stream) {
        fprintf(invocation->err, "skirc: out of memory\n");
        return EXIT_DEFECT;
    }
    bool ok = object_dump(invocation->files[0], stream, error, sizeof error);
    fclose(stream);
    text.at = bytes;
    /* What was read of a damaged file is worth seeing, but not worth another file's contents. */
    enum exit_status status = EXIT_DONE;
    if (ok || !output)
        status = write_output(invocation, output ? output : "-", &text);
    if (!ok) {
        fprintf(invocation->err, "skirc: %s\n", error);
        status = EXIT_INPUT;
    }
    free(bytes);
    return status;
}
