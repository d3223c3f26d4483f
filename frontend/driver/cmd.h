/* The functions behind the command table, and the options of each. */
#ifndef FRONTEND_DRIVER_CMD_H
#define FRONTEND_DRIVER_CMD_H

#include "frontend/driver/command.h"

extern const struct option options_fmt[], options_check[], options_opt[], options_compile[],
    options_run[], options_import[], options_export[], options_test[], options_objdump[],
    options_where[], options_trace[], options_support[];

enum exit_status cmd_fmt(struct invocation *invocation);
enum exit_status cmd_check(struct invocation *invocation);
enum exit_status cmd_opt(struct invocation *invocation);
enum exit_status cmd_compile(struct invocation *invocation);
enum exit_status cmd_run(struct invocation *invocation);
enum exit_status cmd_import(struct invocation *invocation);
enum exit_status cmd_export(struct invocation *invocation);
enum exit_status cmd_test(struct invocation *invocation);
enum exit_status cmd_objdump(struct invocation *invocation);
enum exit_status cmd_where(struct invocation *invocation);
enum exit_status cmd_trace(struct invocation *invocation);
enum exit_status cmd_support(struct invocation *invocation);

#endif
