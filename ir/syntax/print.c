#include "ir/sound.h"
#include "ir/syntax/printer.h"

static void print_target(struct printer *printer, const struct target *target)
{
    const struct intern_name *name = &printer->module->names.names[target->name];
    print_line_begin(printer, target->loc, true);
    text_string(printer->text, "target ");
    spell_quoted(printer->text, name->text, name->size);
    print_attrs(printer, target->attrs);
    print_line_end(printer);
}

static void print_include(struct printer *printer, const struct include *include)
{
    const struct intern_name *path = &printer->module->names.names[include->path];
    print_line_begin(printer, include->loc, !printer->after_include);
    text_string(printer->text, "include ");
    spell_quoted(printer->text, path->text, path->size);
    print_line_end(printer);
}

static void print_kernel(struct printer *printer, const struct kernel *kernel)
{
    print_line_begin(printer, kernel->loc, true);
    text_string(printer->text, "kernel ");
    spell_symbol(printer->text, printer->module, kernel->name);
    text_printf(printer->text, " : %s", kernel_type_info(kernel->type)->name);
    if (kernel->attrs.count == 0) {
        print_line_end(printer);
        return;
    }
    text_char(printer->text, ' ');
    print_open(printer);
    for (uint32_t i = 0; i < kernel->attrs.count; i++) {
        const struct attr *attr = &printer->module->attrs.at[kernel->attrs.first + i];
        print_line_begin(printer, attr->loc, false);
        print_attr(printer, attr);
        text_string(printer->text, i + 1 < kernel->attrs.count ? ",\n" : "\n");
    }
    print_close(printer, kernel->end_loc);
}

static void print_group(struct printer *printer, const struct entry *entry,
                        const struct arg_group *group)
{
    struct text *text = printer->text;
    print_line_begin(printer, group->loc, false);
    text_string(text, "args ");
    if (group->name != NONE) {
        spell_group(text, printer->module, group->name, group->word);
        text_string(text, " = ");
    }
    text_char(text, '[');
    for (uint32_t i = 0; i < group->args.count; i++) {
        if (i)
            text_bytes(text, ", ", 2);
        spell_arg(text, printer->module, entry, &entry->args.at[group->args.first + i]);
    }
    text_char(text, ']');
    print_line_end(printer);
}

static void print_program(struct printer *printer, const struct entry *entry, enum core_type core)
{
    const struct program *program = &entry->programs[core];
    print_line_begin(printer, program->loc, false);
    text_printf(printer->text, "%s ", core_type_name(core));
    print_open(printer);
    for (uint32_t i = 0; i < program->instrs.count; i++) {
        print_line_begin(printer, program->instrs.at[i].loc, false);
        spell_instr(printer->text, printer->module, entry, &program->instrs.at[i]);
        print_line_end(printer);
    }
    print_close(printer, program->end_loc);
}

static void print_entry(struct printer *printer, const struct entry *entry)
{
    print_line_begin(printer, entry->loc, true);
    text_string(printer->text, "entry ");
    spell_symbol(printer->text, printer->module, entry->name);
    text_printf(printer->text, " : %s", kernel_type_info(entry->type)->name);
    print_attrs(printer, entry->attrs);
    text_char(printer->text, ' ');
    print_open(printer);
    for (uint32_t i = 0; i < entry->groups.count; i++)
        print_group(printer, entry, &entry->groups.at[i]);
    /* In the order of the source, which comments follow; cube cores first where there is none. */
    const struct program *aic = &entry->programs[CORE_AIC], *aiv = &entry->programs[CORE_AIV];
    bool swapped = aic->present && aiv->present && aiv->loc < aic->loc;
    for (int i = 0; i < CORE_TYPES; i++) {
        enum core_type core = swapped ? (enum core_type)(1 - i) : (enum core_type)i;
        if (entry->programs[core].present)
            print_program(printer, entry, core);
    }
    print_close(printer, entry->end_loc);
}

static void print_element(struct printer *printer, uint64_t item)
{
    const struct module *module = printer->module;
    uint32_t index = order_index(item);
    switch (order_kind(item)) {
    case SYMBOL_KERNEL: print_kernel(printer, &module->kernels.at[index]); break;
    case SYMBOL_GRAPH:
        if (!printer->without_graphs)
            print_graph(printer, &module->graphs.at[index]);
        break;
    case SYMBOL_ENTRY: print_entry(printer, &module->entries.at[index]); break;
    case ORDER_TARGET: print_target(printer, &module->targets.at[index]); break;
    case ORDER_INCLUDE: print_include(printer, &module->includes.at[index]); break;
    }
}

/* Graphs and entries do not come by includes. */
static bool is_included(const struct module *module, uint64_t item)
{
    uint32_t index = order_index(item);
    switch (order_kind(item)) {
    case SYMBOL_KERNEL: return module_includes(module, module->kernels.at[index].loc);
    case ORDER_TARGET: return module_includes(module, module->targets.at[index].loc);
    case ORDER_INCLUDE: return module_includes(module, module->includes.at[index].loc);
    default: return false;
    }
}

/* What came by an include stands for its line, or the other way round. Comments are those of the
 * source itself. */
static void print_item(struct printer *printer, uint64_t item)
{
    const struct spans *comments = printer->comments;
    bool included = is_included(printer->module, item);
    if (printer->whole ? order_kind(item) == ORDER_INCLUDE : included)
        return;
    if (included)
        printer->comments = NULL;
    print_element(printer, item);
    printer->comments = comments;
    printer->after_include = order_kind(item) == ORDER_INCLUDE;
}

static void print_all(struct printer *printer)
{
    const struct module *module = printer->module;
    assert(!printer->comments || module->source->language == SOURCE_SKIR);
    expensive_assert(module_is_sound(module));
    printer->type_places = mem_calloc(module->types.count, sizeof *printer->type_places);
    print_line_begin(printer, module->loc, false);
    text_string(printer->text, "skir 1\n");
    for (uint32_t i = 0; i < module->order.count && !printer->stopped; i++)
        if (!printer->marked || printer->marked[i])
            print_item(printer, module->order.at[i]);
    assert(printer->indent == 0 || printer->stopped);
    if (printer->comments && !printer->above) {
        print_comments(printer, UINT32_MAX, false);
        if (module->source->tail) {
            text_char(printer->text, '/'); /* the byte that ends the program's text */
            text_bytes(printer->text, module->source->tail, module->source->tail_size);
        }
    }
    mem_free(printer->type_places);
    text_free(&printer->type_texts);
}

void print_module(struct text *text, const struct module *module, const struct spans *comments)
{
    struct printer printer = {.text = text, .module = module, .comments = comments};
    print_all(&printer);
}

/* The same with those comments that passes leave. */
static void print_above_all(struct printer *printer, const struct spans *comments)
{
    if (comments && comments->count > 0) {
        printer->comments = comments;
        printer->above = mem_calloc(comments->count, 1);
    }
    print_all(printer);
    mem_free(printer->above);
}

void print_changed_module(struct text *text, const struct module *module,
                          const struct spans *comments)
{
    struct printer printer = {.text = text, .module = module};
    print_above_all(&printer, comments);
}

void print_marked_module(struct text *text, const struct module *module,
                         const struct spans *comments, const uint8_t *marked)
{
    struct printer printer = {.text = text, .module = module, .marked = marked};
    print_above_all(&printer, comments);
}

void print_whole_module(struct text *text, const struct module *module,
                        const struct spans *comments)
{
    struct printer printer = {.text = text, .module = module, .whole = true};
    print_above_all(&printer, comments);
}

void print_without_graphs(struct text *text, const struct module *module,
                          const struct spans *comments)
{
    struct printer printer = {
        .text = text, .module = module, .whole = true, .without_graphs = true};
    print_above_all(&printer, comments);
}

bool print_module_to(struct print_sink *sink, const struct module *module,
                     const struct spans *comments)
{
    struct text text = {NULL, 0, 0};
    struct printer printer = {.text = &text, .sink = sink, .module = module, .comments = comments};
    print_all(&printer);
    bool complete = !printer.stopped && sink->take(sink, text.at, text.size);
    text_free(&text);
    return complete;
}
