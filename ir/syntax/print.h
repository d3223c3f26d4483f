/* The canonical text of a module. */
#ifndef IR_SYNTAX_PRINT_H
#define IR_SYNTAX_PRINT_H

#include "ir/support/text.h"
#include "ir/syntax/scanner.h"

/* Appends the module. `comments` may be NULL; else they are the comments of the module's
 * source, and they are kept at their places, as are single blank lines and what follows the
 * program in a golden file. That is for modules as they were parsed: passes do not keep the
 * order of the source. */
void print_module(struct text *text, const struct module *module, const struct spans *comments);

/* The same for a module that passes have changed: of the comments, those that stand directly above
 * an element of the module, a block, an op, an instruction or an attribute that is still there are
 * kept with it. */
void print_changed_module(struct text *text, const struct module *module,
                          const struct spans *comments);

/* The same, with what came by includes in the place of their lines: a text that stands alone, in
 * the folder of the source. `comments` may be NULL. */
void print_whole_module(struct text *text, const struct module *module,
                        const struct spans *comments);

/* Appends the module without its graphs: what each core executes, and what it calls. It stands
 * alone, too. */
void print_without_graphs(struct text *text, const struct module *module,
                          const struct spans *comments);

/* The same as print_changed_module with those elements alone that are marked, by their place in
 * module->order. */
void print_marked_module(struct text *text, const struct module *module,
                         const struct spans *comments, const uint8_t *marked);

/* Takes text piece by piece; returns whether it wants more. To be embedded in what `take` needs. */
struct print_sink {
    bool (*take)(struct print_sink *sink, const char *bytes, size_t size);
};

/* The same without a copy of all of the text. False where the sink did not take everything. */
bool print_module_to(struct print_sink *sink, const struct module *module,
                     const struct spans *comments);

#endif
