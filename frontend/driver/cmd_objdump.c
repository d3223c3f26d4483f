/* skirc objdump: the text form of an object. */
#include "backend/linker/object.h"
#include "frontend/driver/cmd.h"
#include "frontend/driver/module_io.h"
#include "ir/support/stream.h"

const struct option options_objdump[] = {
    {"output", 'o', OPTION_VALUE, "FILE", "write there instead of standard output"},
    {0},
};

enum exit_status cmd_objdump(struct invocation *invocation)
{
    char error[512];
    struct text text = {NULL, 0, 0};
    struct stream stream;
    const char *output = option_value(invocation, "output");
    stream_open(&stream);
    bool ok = object_dump(invocation->files[0], stream.file, error, sizeof error);
    text.at = stream_close(&stream, &text.size);
    /* What was read of a damaged file is worth seeing, but not worth another file's contents. */
    enum exit_status status = EXIT_DONE;
    if (ok || !output)
        status = write_output(invocation, output, &text);
    if (!ok)
        status = input_error(invocation, "%s", error);
    mem_free(text.at);
    return status;
}
