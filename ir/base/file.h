/* Whole files in and out. Errors are one line of text in the caller's buffer, naming the file. */
#ifndef IR_BASE_FILE_H
#define IR_BASE_FILE_H

#include "ir/base/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A copy, which nobody else changes. */
struct file_bytes {
    char *data; /* NUL-terminated behind `size` bytes */
    size_t size;
};

/* Reads a regular file, a pipe, or standard input ("-") to its end. Anything else is an error, as
 * it need not have an end; so are files above 64 GiB, what is no file above 1 GiB, and pipes that
 * nobody opens for writing. */
bool file_read(const char *path, struct file_bytes *bytes, char *error, size_t error_size);
/* The same of a regular file alone. */
bool file_read_regular(const char *path, struct file_bytes *bytes, char *error, size_t error_size);
/* The same as file_read of at most 4 GiB, what positions in texts point into. */
bool file_read_text(const char *path, struct file_bytes *bytes, char *error, size_t error_size);
/* open() with `access` (O_RDONLY or O_WRONLY), the file closed on exec and O_NONBLOCK; where it
 * fails with `busy`, tried again for five seconds. -1 with errno where it cannot be opened. */
int file_open_patiently(const char *path, int access, int busy);
/* Opens a regular file to be read from anywhere; -1 where it cannot be. */
int file_open_regular(const char *path, uint64_t *size, char *error, size_t error_size);
/* Reads `size` bytes from `offset` on, which the file has. */
bool file_read_at(int fd, const char *path, uint64_t offset, void *data, size_t size, char *error,
                  size_t error_size);
/* Reads `size` bytes of a regular file, from `offset` on, which it must have. */
bool file_read_part(const char *path, uint64_t offset, void *data, size_t size, char *error,
                    size_t error_size);
void file_bytes_free(struct file_bytes *bytes);

/* The folder of a path, "." where the path names none. The caller frees it. */
char *path_folder(const char *path);

/* The same path absolute and without links. NULL, with errno set, where nothing is there. */
char *path_real(const char *path);

/* Whether two paths lead to one file that is there. */
bool path_same(const char *a, const char *b);

/* Whether two paths lead, by links, to one name in one folder: a file there need not be. */
bool path_same_place(const char *a, const char *b);

/* A path, and the file that it leads to: for many comparisons. The path is the caller's. */
struct known_file {
    const char *path;
    bool is_there;
    uint64_t device, number;
};
struct known_file known_file_of(const char *path);
/* Whether another path leads to the file, which is there. */
bool known_file_is(const struct known_file *file, const char *path);

/* A VEC. */
struct file_names {
    const char **at;
    uint32_t count, capacity;
};

/* Adds the names in a folder but "." and "..", in the order of strcmp, so that nothing depends on
 * the file system. The texts are in the arena; the list is freed by vec_free. False, with errno
 * set, where the folder cannot be read. */
bool folder_names(const char *path, struct arena *arena, struct file_names *names);

/* A file that appears under its name only when it is complete: it is written beside `path` and
 * renamed on commit. A path that exists and is no regular file ("/dev/null", a pipe) is written in
 * place. After a failed open there is nothing to abandon; from an open to the commit it stays where
 * it is. */
struct file_out {
    int fd;
    char *path, *temp; /* `temp` is NULL where none is made (yet) */
    int cleanup;      /* that it is noted by: a signal that ends the process leaves it nowhere */
    struct mem_guard guard;
};
bool file_out_open(struct file_out *out, const char *path, char *error, size_t error_size);
bool file_out_write(struct file_out *out, const void *data, size_t size, char *error,
                    size_t error_size);
bool file_out_commit(struct file_out *out, char *error, size_t error_size);
void file_out_abandon(struct file_out *out);

/* Whether a file_out can be opened for the path by now, which is found by opening one. Nothing is
 * said against standard output ("-") and what is there and no regular file. */
bool file_can_write(const char *path, char *error, size_t error_size);

/* Writes all of `data` to `path` by way of a file_out, or to standard output ("-"). */
bool file_write(const char *path, const void *data, size_t size, char *error, size_t error_size);

#endif
