/* Files by which shells complete the command line, and editors know the language: made from the
 * tables that the compiler itself reads. */
#ifndef FRONTEND_SUPPORT_SUPPORT_H
#define FRONTEND_SUPPORT_SUPPORT_H

#include "frontend/driver/command.h"
#include "ir/support/text.h"

/* Each appends a file for the program. */
#define SUPPORT(name, summary) void support_##name(const struct cli *cli, struct text *text);
#include "frontend/support/support.def"
#undef SUPPORT

#endif
