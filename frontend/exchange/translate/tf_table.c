#include "frontend/exchange/translate/tf_rows.h"

static const struct translation_row *const families[] = {
    tf_elementwise, tf_products, tf_reductions, tf_shapes, tf_indexing, tf_states, NULL};

/* Attributes that repeat the data types of operands, or of results that have theirs. */
static const char *const implied[] = {
    "T",        "Tidx",    "Tshape",     "Tperm",      "Tdim",   "Tdims", "Taxis", "Tlen",
    "Tindices", "Tparams", "Tpaddings",  "Tmultiples", "Tindex", "TI",    "TL",    "Tk",
    "Tind",     "Index",   "index_type", "SrcT",       "U",      "Tin",   "Tout",  NULL};

extern const struct translation_table tf_table;
const struct translation_table tf_table = {"tf", NULL, 1, families, implied};
