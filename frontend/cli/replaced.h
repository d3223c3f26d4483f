/* Streams of this process, as a process that is forked has them. */
#ifndef FRONTEND_CLI_REPLACED_H
#define FRONTEND_CLI_REPLACED_H

#include <stdbool.h>
#include <stdio.h>

/* A stream that is in this process's memory is one in a file there. */
struct replaced {
    FILE *original, *file;
};

/* False, with errno set, where there can be no file. */
bool replaced_begin(struct replaced *replaced, FILE *original);
/* What is in the file goes to the stream that it stands for. */
void replaced_end(struct replaced *replaced);

/* From now on what others print to the descriptor is part of the stream. */
void replaced_redirect(FILE *stream, int fd);

#endif
