/* Graphs of GE as protobuf text: GraphDef and OpDef of ge_ir.proto. */
#ifndef FRONTEND_EXCHANGE_READERS_GE_GRAPH_H
#define FRONTEND_EXCHANGE_READERS_GE_GRAPH_H

#include "frontend/exchange/readers/callees.h"
#include "frontend/exchange/readers/ge_values.h"

struct ge_reader {
    struct dump *dump;
    struct proto_text proto;
    struct ge_values values;
    struct id_map keys; /* by name: what an attribute of this key is to the reader (ge_op.c) */
    VEC(struct ge_given) given;
    struct ge_op *op; /* the one that is being read; NULL */
};

void ge_reader_init(struct ge_reader *reader, struct dump *dump);
void ge_reader_free(struct ge_reader *reader);

/* Reads the fields of a GraphDef that was entered, to its end, into a new graph, the index of which
 * it returns. */
uint32_t ge_read_graph(struct ge_reader *reader, uint32_t loc, uint32_t parent);

/* Whether a node of the graph returns what it takes. */
bool ge_has_return(const struct dump_graph *graph);

/* Reads an attribute of a model that was entered, which has no place in a module. */
void ge_read_model_attr(struct ge_reader *reader);

/* What is to be done once all is read: calls of graphs are looked at. Whether the dump was read
 * without an error. */
bool ge_reader_finish(struct ge_reader *reader);

/* Whether the next fields are those of a GraphDef: ops whose type is a string. It is left
 * somewhere within. */
bool ge_looks_graph(struct proto_text *proto);

#endif
