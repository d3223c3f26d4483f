#include "frontend/cli/replaced.h"

#include <unistd.h>

bool replaced_begin(struct replaced *replaced, FILE *original)
{
    *replaced = (struct replaced){original, original};
    if (fileno(original) < 0)
        replaced->file = tmpfile();
    return replaced->file != NULL;
}

void replaced_end(struct replaced *replaced)
{
    char bytes[4096];
    size_t size;
    if (!replaced->file || replaced->file == replaced->original)
        return;
    rewind(replaced->file);
    while ((size = fread(bytes, 1, sizeof bytes, replaced->file)) > 0)
        fwrite(bytes, 1, size, replaced->original);
    fclose(replaced->file);
}

void replaced_redirect(FILE *stream, int fd)
{
    if (fileno(stream) != fd)
        dup2(fileno(stream), fd);
}
