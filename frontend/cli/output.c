#include "frontend/cli/output.h"
#include "ir/base/file.h"

#include <string.h>

enum exit_status worse_status(enum exit_status a, enum exit_status b)
{
    return a > b ? a : b;
}

static enum exit_status report(const struct invocation *invocation, const char *error)
{
    fprintf(invocation->err, "skirc: %s\n", error);
    return EXIT_INPUT;
}

enum exit_status write_output(const struct invocation *invocation, const char *path,
                              const struct text *text)
{
    char error[512];
    if (strcmp(path, "-") == 0)
        return fwrite(text->at, 1, text->size, invocation->out) == text->size &&
                       fflush(invocation->out) == 0
                   ? EXIT_DONE
                   : report(invocation, "cannot write the output");
    return file_write(path, text->at, text->size, error, sizeof error) ? EXIT_DONE
                                                                       : report(invocation, error);
}

struct stream_sink {
    struct print_sink sink;
    FILE *out;
};

static bool stream_take(struct print_sink *sink, const char *bytes, size_t size)
{
    return fwrite(bytes, 1, size, ((struct stream_sink *)sink)->out) == size;
}

struct file_sink {
    struct print_sink sink;
    struct file_out out;
    char error[512];
};

static bool file_take(struct print_sink *sink, const char *bytes, size_t size)
{
    struct file_sink *file = (struct file_sink *)sink;
    return file_out_write(&file->out, bytes, size, file->error, sizeof file->error);
}

enum exit_status write_produced(const struct invocation *invocation, const char *path,
                                text_producer *produce, const void *what)
{
    if (strcmp(path, "-") == 0) {
        struct stream_sink stream = {{stream_take}, invocation->out};
        return produce(&stream.sink, what) && fflush(invocation->out) == 0
                   ? EXIT_DONE
                   : report(invocation, "cannot write the output");
    }
    struct file_sink file = {.sink = {file_take}};
    if (!file_out_open(&file.out, path, file.error, sizeof file.error))
        return report(invocation, file.error);
    if (!produce(&file.sink, what))
        file_out_abandon(&file.out);
    else if (file_out_commit(&file.out, file.error, sizeof file.error))
        return EXIT_DONE;
    return report(invocation, file.error);
}

struct commented_module {
    const struct module *module;
    const struct spans *comments;
};

static bool produce_module(struct print_sink *sink, const void *what)
{
    const struct commented_module *commented = what;
    return print_module_to(sink, commented->module, commented->comments);
}

enum exit_status write_module(const struct invocation *invocation, const char *path,
                              const struct module *module, const struct spans *comments)
{
    struct commented_module commented = {module, comments};
    return write_produced(invocation, path, produce_module, &commented);
}
