/* What skirc export wrote of a module that the format has no place for: of a node the attribute
 * `_skir`, a string that has attributes as .skir writes them, without braces. That of the node that
 * takes what is returned is about the graph; a reader of a format without such nodes sets
 * dump_graph.rest_text. It adds to what the rest of the dump says, and counts over it; what does
 * not fit it any more is passed over.
 *
 * Of a node:
 *   type         its op type, where that means a parameter or the like in the format
 *   unnamed      its name is only the dump's
 *   results      names of its tensors
 *   types        their types
 *   token        name of the token that it gives
 *   operands     for each operand `value`, `none`, or how many inputs are its list; a label is the
 *                key of a dictionary with that: [value, {mask = none}, {keys = 2}]
 *   via          the kernel
 *   behind       nodes, or parameters, that it waits for besides those that the dump says
 *   after        for each node that it waits for, which of its results stands for it
 *   send, recv   names of events
 *   block        index of its block among those of the graph
 *   attrs        attributes
 * Of a graph:
 *   skir         1: the first graph always says so; its ops have the kernels that they say, or none
 *   name         where the format has no names for graphs
 *   dims         names
 *   zip, product gears: for each name its values
 *   params       where parameters are no nodes: for each a dictionary of types and attrs
 *   types        of what is returned
 *   closed       nothing is returned
 *   blocks       a dictionary for each: kind (scope, none, stream, superkernel), name, in (the
 *                index of the block around it), send, recv, attrs
 *   attrs        attributes
 *   module       kernels, entries and target, as a text in .skir; of the first graph
 */
#ifndef FRONTEND_EXCHANGE_DUMP_REST_H
#define FRONTEND_EXCHANGE_DUMP_REST_H

#include "frontend/exchange/dump/maker.h"

/* Parses the rests of all nodes and graphs, whose `rest` have the attributes then, and adds what
 * they say of inputs. What cannot be parsed is reported. */
bool dump_take_rests(struct dump *dump);

/* Whether skirc export wrote the dump. */
bool dump_is_exported(const struct dump *dump);

/* The attribute of a rest, or NULL where there is none, or not of this kind. */
const struct attr *dump_rest_find(const struct dump *dump, struct range rest, const char *key,
                                  enum attr_kind kind);
/* The n-th value of a list of a rest; NULL where there is none, or not of this kind. */
const struct attr_value *dump_rest_element(const struct dump *dump, const struct attr *list,
                                           uint32_t n, enum attr_kind kind);

/* What the rests change while a graph is made (make_rest.c). */

/* The operands of the node whose values are in maker->values, as maker->forms; false where nothing
 * is said of them. */
bool maker_rest_operands(struct dump_maker *maker, const struct dump_node *node);
/* The name and type of a tensor that the node gives, where they are said; else NONE. */
uint32_t maker_rest_name(struct dump_maker *maker, const struct dump_node *node, uint32_t output);
uint32_t maker_rest_type(struct dump_maker *maker, struct range rest, uint32_t output);
/* The name of its token, or NONE. */
uint32_t maker_rest_token(struct dump_maker *maker, const struct dump_node *node);
/* Changes the values in maker->values that the node is behind, and the events. */
void maker_rest_clauses(struct dump_maker *maker, const struct dump_node *node,
                        struct clauses *clauses);
/* The name of its kernel, or NONE. */
uint32_t maker_rest_kernel(struct dump_maker *maker, const struct dump_node *node);
/* Puts the attributes of a rest into maker->attrs, in place of those of the same keys. True where
 * there were any. */
bool maker_rest_attrs(struct dump_maker *maker, const struct dump_node *node, struct range rest);
/* The attributes of a parameter's node with those of its rest. */
struct range maker_rest_node_attrs(struct dump_maker *maker, const struct dump_node *node);
/* Whether the name of the node is nothing to keep. */
bool maker_rest_unnamed(const struct dump_maker *maker, const struct dump_node *node);
/* Whether the rests say which block the node is in, or that it is in none, and what else the dump
 * says agrees. */
bool maker_rest_has_block(struct dump_maker *maker, const struct dump_node *node);
/* Enters that block; its id, or NONE. */
uint32_t maker_rest_enter(struct dump_maker *maker, const struct dump_node *node);
void maker_rest_leave(struct dump_maker *maker);
/* Of the graph: before its nodes, and behind them. */
void maker_rest_begin(struct dump_maker *maker);
void maker_rest_params(struct dump_maker *maker);
void maker_rest_end(struct dump_maker *maker);
/* Whether the graph says which names its dimensions have. */
bool maker_rest_has_dims(const struct dump_maker *maker);

#endif
