/* Text that is handed on piece by piece while it is made. */
#ifndef FRONTEND_EXCHANGE_WRITERS_PIECES_H
#define FRONTEND_EXCHANGE_WRITERS_PIECES_H

#include "ir/syntax/print.h"

struct pieces {
    struct text text; /* what is not handed on yet */
    struct print_sink *sink;
    bool stopped; /* the sink wants no more */
};

enum { PIECES_SIZE = 1 << 16 };

/* Hands the text on where there is enough of it. Returns whether more is wanted. */
static inline bool pieces_next(struct pieces *pieces)
{
    if (pieces->text.size >= PIECES_SIZE && !pieces->stopped) {
        pieces->stopped = !pieces->sink->take(pieces->sink, pieces->text.at, pieces->text.size);
        pieces->text.size = 0;
    }
    return !pieces->stopped;
}

/* Hands on the rest. Returns whether the sink took everything. */
static inline bool pieces_end(struct pieces *pieces)
{
    bool complete =
        !pieces->stopped && (pieces->text.size == 0 ||
                             pieces->sink->take(pieces->sink, pieces->text.at, pieces->text.size));
    text_free(&pieces->text);
    return complete;
}

#endif
