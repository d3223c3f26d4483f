#include "ir/core/arch.h"
#include "ir/core/invariants.h"
#include "ir/syntax/grammar.h"
#include "ir/syntax/parser.h"

static void parser_free(struct parser *parser)
{
    scanner_free(&parser->scanner);
    vec_free(&parser->ids);
    id_map_free(&parser->value_of_name);
    id_map_free(&parser->superkernels);
    id_map_free(&parser->groups[0]);
    id_map_free(&parser->groups[1]);
    vec_free(&parser->attrs);
    vec_free(&parser->values);
    vec_free(&parser->dims);
    vec_free(&parser->forms);
    vec_free(&parser->known);
    vec_free(&parser->known_types);
}

/* No list on a stack, even an empty one, is at NULL. */
static void reserve_stacks(struct parser *parser)
{
    vec_reserve(&parser->ids, 1);
    vec_reserve(&parser->attrs, 1);
    vec_reserve(&parser->values, 1);
    vec_reserve(&parser->dims, 1);
}

static void parse_file(const struct parser *outer, uint32_t begin)
{
    struct parser parser = {.module = outer->module,
                            .diags = outer->diags,
                            .block = NONE,
                            .depth = outer->depth + 1,
                            .parse_file = parse_file};
    scanner_init(&parser.scanner, outer->module->source, parser.module, parser.diags);
    scanner_seek(&parser.scanner, begin);
    reserve_stacks(&parser);
    skir_yyparse(&parser);
    parser_free(&parser);
}

/* Of a text that is nearly all ops, about so many bytes bring one new name. */
enum { NAME_BYTES = 64 };

/* Whether there is no error. */
static bool parse_into(struct module *module, struct source *source, struct diags *diags,
                       struct spans *comments)
{
    struct parser parser = {
        .module = module, .diags = diags, .block = NONE, .parse_file = parse_file};
    uint32_t errors = diags->counts[SEVERITY_ERROR];
    parse_clear_dim(&parser);
    scanner_init(&parser.scanner, source, parser.module, diags);
    reserve_stacks(&parser);
    skir_yyparse(&parser);
    assert(diags->counts[SEVERITY_ERROR] != errors ||
           (parser_is_between(&parser) && !parser.graph));
    if (comments) {
        *comments = parser.scanner.comments;
        parser.scanner.comments = (struct spans){NULL, 0, 0};
    }
    parser_free(&parser);
    entries_number_slots(module);
    return diags->counts[SEVERITY_ERROR] == errors;
}

struct module *parse_module(struct source *source, struct diags *diags, struct spans *comments)
{
    struct module *module = module_new(source);
    intern_reserve(&module->names, (uint32_t)(source->size / NAME_BYTES));
    if (parse_into(module, source, diags, comments)) {
        expensive_assert(module_is_sound(module));
        return module;
    }
    module_free(module);
    if (comments)
        vec_free(comments);
    return NULL;
}

bool parse_more(struct module *module, struct source *source, struct diags *diags)
{
    return parse_into(module, source, diags, NULL);
}
