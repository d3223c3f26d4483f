/* Included files whose texts a user of the library has. */
#ifndef FRONTEND_INCLUDED_TEXTS_H
#define FRONTEND_INCLUDED_TEXTS_H

#include "frontend/skir.h"
#include "ir/support/source.h"

struct included_texts {
    struct source_reader reader;
    skir_include *include; /* NULL: there are none */
    void *user;
};

struct included_texts included_texts(skir_include *include, void *user);

#endif
