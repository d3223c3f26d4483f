/* Which texts are ONNX models, and which of these are GE's: an op type says it, where there is a
 * node. */
#include "frontend/exchange/exchange.h"
#include "frontend/exchange/readers/onnx_level.h"

enum sign { SIGN_NONE, SIGN_WEAK, SIGN_ONNX, SIGN_GE };

static const char *const model_fields[] = {"ir_version",       "opset_import",  "producer_name",
                                           "producer_version", "domain",        "model_version",
                                           "doc_string",       "functions",     "metadata_props",
                                           "training_info",    "configuration", NULL};
static const char *const node_fields[] = {"input",     "output",         "name",
                                          "attribute", "doc_string",     "domain",
                                          "overload",  "metadata_props", NULL};

/* Of a node that was entered: what its op type says. */
static enum sign sign_of_node(struct proto_text *proto)
{
    struct proto_field field;
    while (proto_next(proto, &field)) {
        const char *type;
        size_t size;
        if (proto_is(&field, "op_type") && proto_string(proto, &field, &type, &size)) {
            bool is_ge = (size > 3 && memcmp(type, "ge:", 3) == 0) ||
                         (size == 8 && memcmp(type, "subgraph", 8) == 0);
            return is_ge ? SIGN_GE : SIGN_ONNX;
        }
        if (!field_is_one(&field, node_fields))
            return SIGN_NONE;
    }
    return SIGN_NONE;
}

static enum sign sign_of_graph(struct proto_text *proto, enum sign sign)
{
    struct proto_field field;
    while (proto_next(proto, &field)) {
        if (field_is_message(&field, "node")) {
            proto_enter(proto);
            return sign_of_node(proto);
        }
        if (field_is_message(&field, "initializer"))
            return SIGN_ONNX;
        if (!onnx_is_of_graph(&field) && !field_is_one(&field, model_fields))
            return SIGN_NONE;
    }
    return sign == SIGN_WEAK ? SIGN_ONNX : SIGN_NONE;
}

static enum sign sign_of_text(struct proto_text *proto)
{
    struct proto_field field;
    enum sign sign = SIGN_NONE;
    while (proto_next(proto, &field)) {
        bool is_graph = field_is_message(&field, "graph");
        if (is_graph || field_is_message(&field, "node"))
            proto_enter(proto);
        if (is_graph)
            return sign_of_graph(proto, sign);
        if (field_is_message(&field, "node"))
            return sign_of_node(proto);
        if (proto_is(&field, "ir_version") || field_is_message(&field, "opset_import"))
            sign = SIGN_WEAK;
        else if (field_is_message(&field, "initializer"))
            return SIGN_ONNX;
        else if (!field_is_one(&field, model_fields) && !onnx_is_of_graph(&field))
            return SIGN_NONE;
    }
    return sign;
}

static enum sign sign_of(const struct source *source)
{
    struct proto_text proto;
    proto_init(&proto, source, NULL);
    enum sign sign = sign_of_text(&proto);
    proto_free(&proto);
    return sign;
}

bool exchange_looks_onnx_txt(const struct source *source)
{
    enum sign sign = sign_of(source);
    return sign == SIGN_ONNX || sign == SIGN_WEAK;
}

bool exchange_looks_ge_onnx(const struct source *source)
{
    return sign_of(source) == SIGN_GE;
}
