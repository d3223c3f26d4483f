#include "frontend/commands/run_stubs.h"
#include "ir/calls.h"
#include "ir/syntax/locate.h"
#include "ir/variants.h"

/* By index, the first op that has a kernel; NULL where none has. */
static void mark_kernels(const struct module *module, const struct graph *graph,
                         const struct op **users)
{
    for (uint32_t i = 0; i < graph->ops.count; i++) {
        const struct op *op = &graph->ops.at[i];
        if (op->kernel == NONE)
            continue;
        const struct op **user = &users[kernel_id(module, module_kernel(module, op->kernel))];
        *user = *user ? *user : op;
    }
}

/* The same of the graph and of all that it calls. */
static const struct op **kernel_users(const struct module *module, const struct graph *graph)
{
    const struct op **users = mem_calloc(module->kernels.count, sizeof *users);
    uint8_t *reached = mem_calloc(module->graphs.count, 1);
    uint8_t *done = mem_calloc(module->graphs.count, 1);
    bool more = true;
    reached[graph_id(module, graph)] = 1;
    while (more) {
        more = false;
        for (uint32_t i = 0; i < module->graphs.count; i++) {
            if (!reached[i] || done[i])
                continue;
            more = true;
            done[i] = 1;
            graph_mark_called(module, &module->graphs.at[i], reached);
            mark_kernels(module, &module->graphs.at[i], users);
        }
    }
    mem_free(reached);
    mem_free(done);
    return users;
}

/* A kernel without a place in the text is that of ops with the flag. */
static void report(const struct module *module, const struct kernel *kernel, const struct op *user,
                   struct diags *diags)
{
    if (kernel->loc == NONE) {
        if (diag_at(diags, DIAG_stub, locate_op(module, user, OP_TYPE_NAME, 0),
                    "this %.*s is a stub: it has no code to run", NAME(module, user->type)))
            diag_help(diags, "leave 'stub' out if there is a sample kernel for it, else give it a "
                             "kernel of your own: 'via @KERNEL'");
    } else if (diag_at(diags, DIAG_stub, locate_name(module, kernel->loc),
                       "'@%.*s' is a stub: it has no code to run", NAME(module, kernel->name))) {
        diag_help(diags, "instead of 'stub', write object = \"FILE.o\", function = \"NAME\"");
    }
}

bool run_without_stubs(const struct module *module, const struct graph *graph, struct diags *diags)
{
    const struct op **users = kernel_users(module, graph);
    bool none = true;
    for (uint32_t i = 0; i < module->kernels.count; i++) {
        const struct kernel *kernel = &module->kernels.at[i];
        if (!users[i] || !kernel_is_stub(module, kernel))
            continue;
        report(module, kernel, users[i], diags);
        none = false;
    }
    mem_free(users);
    return none;
}
