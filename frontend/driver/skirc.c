#include "frontend/driver/skirc.h"
#include "frontend/driver/child_process.h"
#include "frontend/driver/cmd.h"
#include "frontend/driver/module_io.h"
#include "frontend/driver/shared_options.h"
#include "ir/support/file.h"
#include "ir/support/tool.h"

#include <stdlib.h>
#include <string.h>

static const struct option common_options[] = {
    {"max-errors", 0, OPTION_NUMBER(0, UINT32_MAX), "N", "show at most N errors (20); 0 shows all"},
    {"remarks", 0, OPTION_OPTIONAL, "FILE.json",
     "explain what was decided; with a file, write all diagnostics there as JSON"},
    {"color", 0, OPTION_WORD("auto", "always", "never"), "WHEN",
     "colour messages: auto, always or never"},
    {"help", 'h', OPTION_FLAG, NULL, "show this help"},
    {0},
};

/* Passes of plugins are code of the user. `run` has a child for all that it does. */
static enum exit_status run(struct invocation *invocation)
{
    struct child_end end;
    if (invocation->n_files > 1 && option_value(invocation, "remarks"))
        return usage_error(invocation,
                           "--remarks=FILE.json takes one file's diagnostics, but there are %u "
                           "files",
                           invocation->n_files);
    if (!tool_timeout_is_valid())
        return usage_error(invocation,
                           "SKIR_TOOL_TIMEOUT is '%s' in the environment, but must be a number of "
                           "seconds from 1 to 1000000",
                           getenv("SKIR_TOOL_TIMEOUT"));
    if (strcmp(invocation->command->name, "test") != 0) /* tests are blessed in place */
        file_protect_inputs(true);
    if (!outputs_are_apart(invocation) || !sk_argument_check(invocation, "sk-options"))
        return EXIT_USAGE;
    return option_given(invocation, "pass-plugin") && !option_exists(invocation, "in-process")
               ? child_run(invocation, invocation->command->run, &end)
               : invocation->command->run(invocation);
}

/* A line for each format that can be written. */
static const char export_details[] =
    "Passes are not run: what stands in the file is written. Formats, each with names of its files:"
#define WRITES_yes(cli, suffix, summary) "\n" cli " (NAME" suffix "): " summary
#define WRITES_some(cli, suffix, summary) WRITES_yes(cli, suffix, summary)
#define WRITES_graph(cli, suffix, summary) WRITES_yes(cli, suffix, summary)
#define WRITES_no(cli, suffix, summary)
#define FORMAT(name, cli, suffix, reads, writes, summary) WRITES_##writes(cli, suffix, summary)
#include "frontend/exchange.def"
#undef FORMAT
    ;

/* A line for each format that can be read. */
static const char import_details[] = "The format is guessed from the content. Formats:"
#define READS_yes(cli, summary) "\n" cli ": " summary
#define READS_no(cli, summary)
#define FORMAT(name, cli, suffix, reads, writes, summary) READS_##reads(cli, summary)
#include "frontend/exchange.def"
#undef FORMAT
    ;

static const char support_details[] = "WHAT is one of"
#define SUPPORT(name, summary) "\n" #name ": " summary
#include "frontend/support/support.def"
#undef SUPPORT
    ;

static const struct command commands[] = {
    {"compile", "[OPTIONS] FILE...", "compile the graphs of a file into a linked object",
     "Ops of a scope become one super kernel: one entry that calls their kernels in turn on every "
     "core, linked with the kernels' binaries into one relocatable object. Its only global symbols "
     "are the entries; they run on the skrt runtime (skrt.h).",
     options_compile, 1, FILES_UNLIMITED, cmd_compile},
    {"run", "[OPTIONS] FILE", "compile a graph for this machine and run it",
     "SPEC is FILE.npy, a number, arange[:START[:STEP]], normal[:SEED], rand:LO..HI[:SEED], ones "
     "or zeros. Inputs that are not given are random "
     "numbers, the same in every run.",
     options_run, 1, 1, cmd_run},
    {"opt", "[OPTIONS] FILE...", "run passes on a file and print the result",
     "The list may name passes in any order and number; 'default' stands for the pipeline of "
     "compile, A..B for the part of it from one pass to another, and default..B for that up to B. "
     "Without --passes, --start-after and --stop-after the file is only verified and printed.",
     options_opt, 0, FILES_UNLIMITED, cmd_opt},
    {"check", "[OPTIONS] FILE...", "refuse what compile refuses; say nothing when all is well",
     "Parses, verifies, runs the pipeline of compile with the sample kernels, and looks for the "
     "objects of kernels; no tool is called. With --explain, every scope gets an account on "
     "standard output: its super kernels with their ops and streams, and each break with its "
     "cause.",
     options_check, 1, FILES_UNLIMITED, cmd_check},
    {"fmt", "[OPTIONS] FILE...", "print the canonical form of files, with their comments", NULL,
     options_fmt, 1, FILES_UNLIMITED, cmd_fmt},
    {"import", "[OPTIONS] FILE", "make a graph that others have dumped a .skir file",
     import_details, options_import, 0, 1, cmd_import},
    {"export", "[OPTIONS] FILE...", "write a file in a format of others", export_details,
     options_export, 1, FILES_UNLIMITED, cmd_export},
    {"test", "[OPTIONS] PATH...", "run golden-file tests: files, or folders of .skir files",
     "A test is one file: a line '//! COMMAND ARGUMENTS', a line '//! CLAIM', the input, a line "
     "'//! expect', and the output expected. '//! error: TEXT' at the end of a line expects a "
     "diagnostic there.",
     options_test, 1, FILES_UNLIMITED, cmd_test},
    {"objdump", "FILE", "print sections, symbols and relocations of an object or archive", NULL,
     options_objdump, 1, 1, cmd_objdump},
    {"where", "[OPTIONS] FILE.json", "tell what an address or a line of a kernel for NPUs is of",
     "The file is the metadata of the kernel, which compile writes beside its object.",
     options_where, 1, 1, cmd_where},
    {"trace", "DUMP", "say where each core stood when a launch ended, by what it left in memory",
     NULL, options_trace, 1, 1, cmd_trace},
    {"support", "WHAT", "print what a shell or an editor has to know of skirc", support_details,
     options_support, 1, 1, cmd_support},
    {0},
};

const struct cli skirc = {commands, common_options, run, false};
