#include "frontend/commands/check_estimate.h"
#include "ir/arch.h"
#include "ir/estimate.h"
#include "ir/syntax/spelling.h"
#include "ir/variants.h"

/* One graph's. */
struct account {
    FILE *out;
    const struct module *module;
    const struct graph *graph;
    const struct members *members;
    struct graph_estimate times;
};

static const char *const reasons[] = {[ESTIMATE_UNKNOWN] = "unknown",
                                      [ESTIMATE_TIME] = "its time",
                                      [ESTIMATE_FLOPS] = "flops",
                                      [ESTIMATE_BYTES] = "bytes"};

static void print_op(const struct account *account, uint32_t id)
{
    const struct op *op = &account->graph->ops.at[id];
    const struct kernel *kernel = module_kernel(account->module, op->kernel);
    const struct op_estimate *time = &account->times.ops[id];
    struct arena scratch = {NULL, 0};
    if (time->by == ESTIMATE_UNKNOWN)
        fprintf(account->out, "      %10s     ", "?");
    else
        fprintf(account->out, "      %10.3f us  ", time->us);
    fprintf(account->out, "%-8s  %-11s  %s\n", reasons[time->by],
            kernel_type_info(kernel->type)->name,
            op_text(account->module, account->graph, op, &scratch));
    arena_free(&scratch);
}

static void print_superkernel(const struct account *account, uint32_t id)
{
    const struct block *block = &account->graph->blocks.at[id];
    fprintf(account->out, "    '@%.*s': %.3f us; each op launched by itself: %.3f us\n",
            NAME(account->module, block->name), account->times.blocks[id],
            account->times.alone[id]);
    for (uint32_t i = account->members->first[id]; i < account->members->first[id + 1]; i++)
        print_op(account, account->members->ops[i]);
}

/* Ops outside of super kernels, each a launch. */
static void print_single_ops(const struct account *account)
{
    bool first = true;
    for (uint32_t i = 0; i < account->graph->ops.count; i++) {
        const struct op *op = &account->graph->ops.at[i];
        if (op->kernel == NONE || graph_superkernel(account->graph, op->block) != NONE)
            continue;
        if (first)
            fprintf(account->out, "    launched by themselves, each %.3f us more:\n",
                    estimate_launch(account->module));
        first = false;
        print_op(account, i);
    }
}

static void print_sums(const struct account *account)
{
    const struct graph_estimate *times = &account->times;
    fprintf(account->out, "    launches one behind the other: %.3f us; each op by itself: %.3f us",
            times->fused, times->unfused);
    if (times->unfused > times->fused)
        fprintf(account->out, "; fusing saves at most %.3f us", times->unfused - times->fused);
    fputc('\n', account->out);
    if (times->unknown)
        fprintf(account->out, "    %u op%s whose time is not known count%s as none\n",
                times->unknown, times->unknown == 1 ? "" : "s", times->unknown == 1 ? "s" : "");
}

static void print_graph(struct account *account, struct analyses *analyses)
{
    account->members = analyses_members(analyses, account->module, account->graph);
    graph_estimate_init(&account->times, analyses, account->module, account->graph);
    fprintf(account->out, "  '@%.*s':\n", NAME(account->module, account->graph->name));
    for (uint32_t i = 0; i < account->graph->blocks.count; i++)
        if (account->graph->blocks.at[i].kind == BLOCK_SUPERKERNEL)
            print_superkernel(account, i);
    print_single_ops(account);
    print_sums(account);
    graph_estimate_free(&account->times);
}

static void print_rates(FILE *out, const struct module *module)
{
    enum arch arch = module_arch(module);
    const struct arch_rates *rates = arch_rates(arch);
    if (rates)
        fprintf(out,
                "  estimate (roofline of %s, no contention; nothing is measured): %u MHz, a launch "
                "%.3f us; barriers and what kernels need to begin are not counted\n",
                arch_name(arch), rates->mhz, estimate_launch(module));
    else
        fprintf(out, "  nothing is known of the rates of %s: only kernels with 'time' count\n",
                arch_name(arch));
}

void check_estimate_print(struct input *input)
{
    struct account account = {.out = input->invocation->out, .module = input->module};
    struct analyses analyses = {NULL, 0, 0, NULL};
    diag_put(account.out, input->diags.path, strlen(input->diags.path));
    fputs(":\n", account.out);
    print_rates(account.out, input->module);
    for (uint32_t i = 0; i < input->module->graphs.count; i++) {
        account.graph = &input->module->graphs.at[i];
        if (account.graph->cases.count == 0) /* others are launched for it */
            print_graph(&account, &analyses);
    }
    analyses_drop(&analyses);
}
