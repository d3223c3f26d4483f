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

static void print_program(struct printer *printer, const struct program *program,
                          enum core_type core)
{
    print_line_begin(printer, program->loc, false);
    text_printf(printer->text, "%s ", core_type_name(core));
    print_open(printer);
    for (uint32_t i = 0; i < program->instrs.count; i++) {
        print_line_begin(printer, program->instrs.at[i].loc, false);
        spell_instr(printer->text, printer->module, &program->instrs.at[i]);
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
    /* In the order of the source, which comments follow; cube cores first where there is none. */
    const struct program *aic = &entry->programs[CORE_AIC], *aiv = &entry->programs[CORE_AIV];
    bool swapped = aic->present && aiv->present && aiv->loc < aic->loc;
    for (int i = 0; i < CORE_TYPES; i++) {
        enum core_type core = swapped ? (enum core_type)(1 - i) : (enum core_type)i;
        if (entry->programs[core].present)
            print_program(printer, &entry->programs[core], core);
    }
    print_close(printer, entry->end_loc);
}

static void print_item(struct printer *printer, uint64_t item)
{
    const struct module *module = printer->module;
    uint32_t index = (uint32_t)(item >> 2);
    switch (item & 3) {
    case SYMBOL_KERNEL: print_kernel(printer, &module->kernels.at[index]); break;
    case SYMBOL_GRAPH:
        if (!printer->without_graphs)
            print_graph(printer, &module->graphs.at[index]);
        break;
    case SYMBOL_ENTRY: print_entry(printer, &module->entries.at[index]); break;
    case ORDER_TARGET: print_target(printer, &module->targets.at[index]); break;
    }
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
        print_item(printer, module->order.at[i]);
    assert(printer->indent == 0 || printer->stopped);
    if (printer->comments) {
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

void print_without_graphs(struct text *text, const struct module *module)
{
    struct printer printer = {.text = text, .module = module, .without_graphs = true};
    print_all(&printer);
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
