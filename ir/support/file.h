/* Whole files in and out. Errors are one line of text in the caller's buffer, naming the file. */
#ifndef IR_SUPPORT_FILE_H
#define IR_SUPPORT_FILE_H

#include "ir/support/vec.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A copy, which nobody else changes. */
struct file_bytes {
    char *data; /* NUL-terminated behind `size` bytes */
    size_t size;
};

/* Reads a regular file, a pipe, or standard input ("-") to its end. Other files are an error, since
 * they need not have an end, but for "/dev/null"; so are files above 64 GiB, and pipes above
 * 1 GiB. */
bool file_read(const char *path, struct file_bytes *bytes, char *error, size_t error_size);
/* The same of a regular file alone. */
bool file_read_regular(const char *path, struct file_bytes *bytes, char *error, size_t error_size);
/* The same as file_read of at most 4 GiB, what positions in texts point into. */
bool file_read_text(const char *path, struct file_bytes *bytes, char *error, size_t error_size);
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

/* A VEC. */
struct file_names {
    const char **at;
    uint32_t count, capacity;
};

/* Adds the names in a folder but "." and "..", in the order of strcmp, so that nothing depends on
 * the file system. The texts are in the arena; the list is freed by vec_free. False, with errno
 * set, where the folder cannot be read. */
bool folder_names(const char *path, struct arena *arena, struct file_names *names);

/* A file that appears under its name only when it is complete: it is written under another name in
 * the folder, and renamed on commit. A symbolic link stays, and a file that is replaced keeps its
 * mode. A device, a pipe, or a link to a file that does not exist is written directly. After a
 * failed open there is nothing to abandon; from an open to the commit the struct stays where it
 * is. */
struct file_out {
    int fd;
    char *path, *temp; /* `temp` is NULL where none is made (yet) */
    int cleanup;       /* that it is noted by: a signal that ends the process leaves it nowhere */
    struct mem_guard guard;
};
bool file_out_open(struct file_out *out, const char *path, char *error, size_t error_size);
bool file_out_write(struct file_out *out, const void *data, size_t size, char *error,
                    size_t error_size);
bool file_out_commit(struct file_out *out, char *error, size_t error_size);
void file_out_abandon(struct file_out *out);

/* Whether a file_out could be opened for the path now, by the rights of its folder. Standard output
 * ("-"), devices and pipes are taken to be writable. */
bool file_can_write(const char *path, char *error, size_t error_size);

/* Writes all of `data` to `path` by way of a file_out, or to standard output ("-"). */
bool file_write(const char *path, const void *data, size_t size, char *error, size_t error_size);

/* ---- Outputs and inputs ---- */

/* From now on, each regular file that this process opens to read is an input, by its device and
 * inode: no file_out replaces one. Or that ends. There are no inputs so far. */
void file_protect_inputs(bool protect);
/* Whether a path leads to an input. */
bool file_is_input(const char *path);
/* The file may be replaced: a command works in place. */
void file_release_input(const char *path);

#endif
