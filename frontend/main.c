#include "frontend/skirc.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    /* Unbuffered, every byte of a diagnostic would be a system call. */
    setvbuf(stderr, NULL, _IOLBF, BUFSIZ);
    return cli_main(&skirc, argc, (const char *const *)argv, stdout, stderr);
}
