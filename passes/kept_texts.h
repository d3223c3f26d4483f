/* Whether a pass of a plugin changes what its row says that it does not: the parts of the module
 * that must stay as they are, as text. */
#ifndef PASSES_KEPT_TEXTS_H
#define PASSES_KEPT_TEXTS_H

#include "ir/base/text.h"
#include "passes/pass.h"

/* The parts that are compared, each with what it leaves out of those behind it. */
enum kept_part { KEPT_GRAPHS, KEPT_ENTRIES, KEPT_ALL, KEPT_PARTS };

struct kept_texts {
    struct text of[KEPT_PARTS]; /* empty where the row lets the part change */
};

/* Texts of what `pass` must keep: nothing where the pass is one of skirc, whose row is trusted. */
void kept_texts_take(struct kept_texts *texts, const struct pass *pass,
                     const struct module *module);
/* What is not as it was, as a word for people; NULL: nothing. Releases the texts. */
const char *kept_texts_changed(struct kept_texts *texts, const struct pass *pass,
                               const struct module *module);

#endif
