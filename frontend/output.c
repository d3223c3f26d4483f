#include "frontend/output.h"
#include "ir/file.h"

#include <string.h>

enum exit_status worse_status(enum exit_status a, enum exit_status b)
{
    return a > b ? a : b;
}

enum exit_status write_output(const struct invocation *invocation, const char *path,
                              const struct text *text)
{
    char error[512];
    if (strcmp(path, "-") == 0) {
        if (fwrite(text->at, 1, text->size, invocation->out) == text->size &&
            fflush(invocation->out) == 0)
            return EXIT_DONE;
        fprintf(invocation->err, "skirc: cannot write the output\n");
        return EXIT_INPUT;
    }
    if (file_write(path, text->at, text->size, error, sizeof error))
        return EXIT_DONE;
    fprintf(invocation->err, "skirc: %s\n", error);
    return EXIT_INPUT;
}
