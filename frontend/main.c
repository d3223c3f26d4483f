#include "frontend/skirc.h"
#include "ir/base/file.h"

#include <signal.h>
#include <stdio.h>

/* What was written so far is nothing without its end. */
static void on_end(int signal_number)
{
    file_out_remove_temp();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* A file that grows too large is an error of writing like others; who ignores a signal, as nohup
 * does, goes on doing so. */
static void handle_signals(void)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    signal(SIGXFSZ, SIG_IGN);
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        if (signal(signals[i], on_end) == SIG_IGN)
            signal(signals[i], SIG_IGN);
}

int main(int argc, char **argv)
{
    handle_signals();
    /* Unbuffered, every byte of a diagnostic would be a system call. */
    setvbuf(stderr, NULL, _IOLBF, BUFSIZ);
    return cli_main(&skirc, argc, (const char *const *)argv, stdout, stderr);
}
