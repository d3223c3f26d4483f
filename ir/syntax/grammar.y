/* The grammar of .skir text. docs/language.md has it in prose. -*- c -*- */
%define api.pure full
%define api.prefix {skir_yy}
%define api.value.type {union token_value}
%define parse.error custom
%define lr.default-reduction consistent
%expect 0
%param {struct parser *parser}

%code requires {
#include "ir/syntax/mistakes.h"
#include "ir/syntax/parser.h"
}

%code {

#include <ctype.h>

/* Of the parser's stack, where it is deep. */
#define YYMALLOC(size) mem_realloc(NULL, size, 1)
#define YYFREE(p) mem_free(p)

static int skir_yylex(union token_value *value, struct parser *parser);
static void skir_yyerror(struct parser *parser, const char *text);

/* Positions do not take part in the work of the parser, which would copy them with every symbol.
 * Names and punctuation carry where they begin (token_begin). A rule ends before the lookahead
 * where one was read, else with the last token. */
#define RULE_END                                                                                   \
    (yychar == SKIR_YYEMPTY ? parser->scanner.cursor : parser->scanner.previous_end)

static uint32_t offset_of(const struct parser *parser, const char *p)
{
    return scanner_offset(&parser->scanner, p);
}

static struct span rule_span(const struct parser *parser, uint64_t first, const char *end)
{
    return (struct span){token_begin(first), offset_of(parser, end)};
}

/* Of a word, which stands in the text as it is. */
static struct span word_span(const struct parser *parser, uint64_t word)
{
    uint32_t begin = token_begin(word);
    return (struct span){begin, begin + parser->module->names.names[token_id(word)].size};
}

/* A list of one element that begins with the token; one more is `list + 1`. */
static inline uint64_t list_of(uint64_t token)
{
    return token_make(1, token_begin(token));
}

static struct attr_value value_id(enum attr_kind kind, uint64_t token)
{
    return (struct attr_value){.kind = kind, .id = token_id(token)};
}

static struct attr_value value_dict(struct range attrs)
{
    return (struct attr_value){.kind = ATTR_DICT, .count = attrs.count, .first = attrs.first};
}

static struct attr_value value_int(enum attr_kind kind, int64_t i)
{
    return (struct attr_value){.kind = kind, .i = i};
}
}

/* In the order of enum token. */
%token END 0 "end of file"
%token RESYNC "end of line"
%token <name> VALUE "value (%name)"
%token <name> SYMBOL "symbol (@name)"
%token <name> STRING "string"
%token <name> WORD "word"
%token <name> DTYPE "element type"
%token <name> INSTR "instruction"
%token <name> EVENT_INSTR "instruction for an event"
%token <name> TYPE "type"
%token <name> DICT "attributes"
%token <name> HEAD "result of a call" MORE "one more value" REST "rest of a call"
%token <i> INT "integer"
%token <f> FLOAT "number"
%token <name> ATTR_BRACE "'{' of attributes"
%token <name> ARROW "'->'"
%token <name> DOTS "'..'"
%token <name> KW_skir "'skir'" KW_target "'target'" KW_include "'include'"
%token <name> KW_kernel "'kernel'" KW_graph "'graph'"
%token <name> KW_entry "'entry'"
%token <name> KW_scope "'scope'" KW_stream "'stream'" KW_superkernel "'superkernel'"
%token <name> KW_none "'none'"
%token <name> KW_return "'return'" KW_via "'via'" KW_after "'after'"
%token <name> KW_send "'send'" KW_recv "'recv'"
%token <name> KW_dims "'dims'" KW_gears "'gears'" KW_zip "'zip'" KW_product "'product'"
%token <name> KW_token "'token'"
%token <name> KW_true "'true'" KW_false "'false'"
%token <name> ':' '}' ',' '=' '[' ']' '{' '?' '(' ')' '*' '+'

%type <name> word label rare_key rare_op_type type new_type format keyword core_word event
%type <name> any_type list_type name any_word args_word head
%type <list> dims dim_list params param_list ids types type_list value_list attr_items
%type <list> events gear_values instr_operands event_operands operands forms form unlabelled
%type <range> attrs dict

%%

module:
  version items

version:
  KW_skir INT
      { parse_version(parser, token_begin($1), scanner_span(&parser->scanner), $INT); }

items:
  %empty
| items item

item:
  target
| include
| kernel
| graph
| entry
| error RESYNC  { parse_recover_item(parser); yyerrok; }

target:
  KW_target STRING attrs  { parse_target(parser, token_begin($1), $STRING, $attrs); }

/* What the file has comes at this place. */
include:
  KW_include STRING
      { parse_include(parser, rule_span(parser, $1, RULE_END), $STRING); }

kernel:
  KW_kernel SYMBOL ':' word attrs
      { parse_kernel(parser, rule_span(parser, $1, RULE_END), $SYMBOL, word_span(parser, $word),
                     $word, $attrs); }

/* ------------------------------------------------------------------------ attributes */

attrs:
  %empty  { $$ = (struct range){0, 0}; }
| dict

dict:
  ATTR_BRACE attr_items '}'
      { $$ = parse_take_dict(parser, rule_span(parser, $1, RULE_END), $attr_items); }
| ATTR_BRACE attr_items ',' '}'
      { $$ = parse_take_dict(parser, rule_span(parser, $1, RULE_END), $attr_items); }
| DICT
      { $$ = parse_known_dict(parser, $DICT); }

/* `WORD = value`, by far the most frequent, goes without a rule of its own. */
attr_items:
  WORD '=' value                 { parse_push_attr(parser, $WORD); $$ = 1; }
| attr_items ',' WORD '=' value  { parse_push_attr(parser, $WORD); $$ = $1 + 1; }
| rare_attr                      { $$ = 1; }
| attr_items ',' rare_attr       { $$ = $1 + 1; }

rare_attr:
  WORD                  { parse_push_value(parser, value_int(ATTR_BOOL, 1));
                          parse_push_attr(parser, $WORD); }
| rare_key '=' value    { parse_push_attr(parser, $rare_key); }
| rare_key              { parse_push_value(parser, value_int(ATTR_BOOL, 1));
                          parse_push_attr(parser, $rare_key); }

rare_key:
  INSTR
| DTYPE
| keyword
| KW_true
| KW_false
| STRING

comma:
  %empty
| ','

/* Leaves the value on parser->values. */
value:
  INT       { parse_push_value(parser, value_int(ATTR_INT, $INT)); }
| FLOAT     { parse_push_value(parser, (struct attr_value){.kind = ATTR_FLOAT, .f = $FLOAT}); }
| KW_true   { parse_push_value(parser, value_int(ATTR_BOOL, 1)); }
| KW_false  { parse_push_value(parser, value_int(ATTR_BOOL, 0)); }
| STRING    { parse_push_value(parser, value_id(ATTR_STRING, $STRING)); }
| WORD      { parse_push_value(parser, value_id(ATTR_WORD, $WORD)); }
| INSTR     { parse_push_value(parser, value_id(ATTR_WORD, $INSTR)); }
| DTYPE     { parse_push_value(parser, value_id(ATTR_WORD, $DTYPE)); }
| keyword   { parse_push_value(parser, value_id(ATTR_WORD, $keyword)); }
| SYMBOL    { parse_push_value(parser, value_id(ATTR_SYMBOL, $SYMBOL)); }
| VALUE     { parse_push_value(parser, value_id(ATTR_VALUE, $VALUE)); }
| type      { parse_push_value(parser, value_id(ATTR_TYPE, $type)); }
| '[' ']'         { parse_push_list(parser, 0); }
| '[' ']' ':' list_type     { parse_push_empty(parser, word_span(parser, $list_type), $list_type); }
| '[' value_list comma ']'  { parse_push_list(parser, $value_list); }
| dict      { parse_push_value(parser, value_dict($dict)); }
| '{' '}'   { parse_push_value(parser, value_dict((struct range){0, 0})); }

list_type:
  WORD
| DTYPE

value_list:
  value                 { $$ = 1; }
| value_list ',' value  { $$ = $1 + 1; }

word:
  WORD
| INSTR
| DTYPE

keyword:
  KW_skir | KW_target | KW_include | KW_kernel | KW_graph | KW_entry | KW_scope | KW_stream
| KW_superkernel | KW_none | KW_return | KW_via | KW_after | KW_send | KW_recv | KW_dims | KW_gears
| KW_zip | KW_product | KW_token

/* ----------------------------------------------------------------------------- types */

type:
  TYPE
| new_type

/* Where types of values stand: an op's last result may be a token. */
any_type:
  type
| KW_token  { $$ = token_make(module_token(parser->module), token_begin($1)); }

/* One that the scanner does not know as a whole. */
new_type:
  DTYPE '[' dims ']' format
      { $$ = parse_take_type(parser, rule_span(parser, $DTYPE, RULE_END), $DTYPE, $dims, $format); }
| '?' '[' dims ']' format
      { $$ = parse_take_type(parser, rule_span(parser, $1, RULE_END), NONE, $dims, $format); }

format:
  %empty    { $$ = W_ND; }
| ':' word  { $$ = $word; }

dims:
  %empty  { $$ = 0; }
| DOTS    { $$ = RANK_UNKNOWN; }
| dim_list

dim_list:
  dim               { $$ = 1; }
| dim_list ',' dim  { $$ = $1 + 1; }

dim:
  sum  { parse_push_sum(parser, offset_of(parser, RULE_END)); }
| '?'  { parse_push_dim(parser, DIM_UNKNOWN); }

/* The parts of a dimension are gathered in parser->dim. */
sum:
  term          { parse_end_term(parser); }
| sum '+' term  { parse_end_term(parser); }

term:
  factor
| term '*' factor

factor:
  INT   { parse_number_factor(parser, scanner_span(&parser->scanner), $INT); }
| name  { parse_name_factor(parser, $name); }

/* Where nothing else may stand, any word is a name. */
name:
  word
| keyword

/* ---------------------------------------------------------------------------- graphs */

/* A graph is located at its name, so that comments up to there stand above it. */
graph:
  KW_graph SYMBOL { parse_refuse_included(parser, rule_span(parser, $1, RULE_END), "a graph");
                    parse_graph_begin(parser, token_begin($SYMBOL), $SYMBOL); }
  '(' params ')' attrs free_dims gears ARROW types
      { parse_graph_results(parser, $types, $attrs); }
  body_brace { parse_body_begin(parser); }
  body '}'[end]  { parse_graph_end(parser, token_begin($end)); }

/* The scanner takes `{ return }` and `{ pipe_barrier }` for attributes. */
body_brace:
  '{'
| ATTR_BRACE

params:
  %empty  { $$ = 0; }
| param_list comma

param_list:
  param                 { $$ = 1; }
| param_list ',' param  { $$ = $1 + 1; }

param:
  VALUE ':' any_type attrs  { parse_param(parser, token_begin($1), $VALUE, $any_type, $attrs); }

free_dims:
  %empty
| KW_dims '(' free_dim_list comma ')'

free_dim_list:
  free_dim
| free_dim_list ',' free_dim

free_dim:
  name  { parse_free_dim(parser, token_begin($name), token_id($name)); }

gears:
  %empty
| KW_gears gear_mode '(' gear_list comma ')'

gear_mode:
  KW_zip      { parser->graph->gear_mode = GEARS_ZIP; }
| KW_product  { parser->graph->gear_mode = GEARS_PRODUCT; }

gear_list:
  gear
| gear_list ',' gear

gear:
  name '=' '[' gear_values ']'  { parse_gear(parser, token_begin($1), $name, $gear_values); }

gear_values:
  INT                  { parse_push_value(parser, value_int(ATTR_INT, $INT)); $$ = 1; }
| gear_values ',' INT  { parse_push_value(parser, value_int(ATTR_INT, $INT)); $$ = $1 + 1; }

types:
  any_type       { parse_push_id(parser, $any_type); $$ = 1; }
| '(' ')'        { $$ = 0; }
| '(' type_list comma ')'  { $$ = $type_list; }

type_list:
  any_type                { parse_push_id(parser, $any_type); $$ = 1; }
| type_list ',' any_type  { parse_push_id(parser, $any_type); $$ = $1 + 1; }

body:
  statements
| statements return
| cases

cases:
  case
| cases case

case:
  '[' gear_values ']' SYMBOL  { parse_case(parser, token_begin($1), $gear_values, $SYMBOL); }

return:
  KW_return      { parse_return(parser, token_begin($1), 0); }
| KW_return ids  { parse_return(parser, token_begin($1), $ids); }

ids:
  VALUE          { parse_push_id(parser, $VALUE); $$ = list_of($VALUE); }
| ids ',' VALUE  { parse_push_id(parser, $VALUE); $$ = $1 + 1; }
| ids MORE       { parse_push_id(parser, $MORE); $$ = $1 + 1; }

statements:
  %empty
| statements head ids REST                  { parse_word_call(parser, $head, $ids);
                                              parse_rest(parser, $REST);
                                              parse_op(parser, RULE_END); }
| statements head ids REST clauses          { parse_word_call(parser, $head, $ids);
                                              parse_rest(parser, $REST);
                                              parse_op(parser, RULE_END); }
| statements op                             { parse_op(parser, RULE_END); }
| statements op clauses                     { parse_op(parser, RULE_END); }
| statements block_head '{' statements '}'  { parse_block_end(parser, token_begin($5)); }
| statements full_head body_brace statements '}'  { parse_block_end(parser, token_begin($5)); }
| statements error RESYNC                   { parse_recover(parser); yyerrok; }

/* Behind a name, a brace before `WORD =` is that of attributes; behind attributes, of the body,
 * so that what stands there is what is wrong with it. */
block_head:
  KW_scope SYMBOL    { parse_block_begin(parser, token_begin($1), BLOCK_SCOPE, $SYMBOL,
                                         (struct range){0, 0}); }
| KW_stream STRING   { parse_block_begin(parser, token_begin($1), BLOCK_STREAM, $STRING,
                                         (struct range){0, 0}); }
| KW_superkernel SYMBOL launch_events
      { parse_superkernel_begin(parser, token_begin($1), $SYMBOL, (struct range){0, 0}); }

full_head:
  KW_scope SYMBOL dict       { parse_block_begin(parser, token_begin($1), BLOCK_SCOPE, $SYMBOL,
                                                 $dict); }
| KW_scope KW_none           { parse_block_begin(parser, token_begin($1), BLOCK_SCOPE_NONE, NONE,
                                                 (struct range){0, 0}); }
| KW_stream STRING dict      { parse_block_begin(parser, token_begin($1), BLOCK_STREAM, $STRING,
                                                 $dict); }
| KW_superkernel SYMBOL dict launch_events
      { parse_superkernel_begin(parser, token_begin($1), $SYMBOL, $dict); }

launch_events:
  %empty
| events_clauses

/* The parts of an op are gathered in parser->op. Of a large module, nearly all is ops, and a
 * reduction costs as much as a token: the usual spelling of each part goes without a rule of its
 * own, and what is absent without an empty one. Of most ops, what stands around the operands is one
 * token each: HEAD is `VALUE = WORD (`, MORE is `, VALUE`, and REST what follows the operands. */
op:
  call
| call ':' TYPE           { parse_op_type(parser, $TYPE); }
| call result_types
| call dict               { parser->op.attrs = $dict; }
| call dict ':' TYPE      { parser->op.attrs = $dict; parse_op_type(parser, $TYPE); }
| call dict result_types  { parser->op.attrs = $dict; }
| head ids ',' REST       { parse_word_call(parser, $head, $ids);
                            parse_rest(parser, $REST); }
| head REST               { parse_word_call(parser, $head, 0);
                            parse_rest(parser, $REST); }
| head forms comma REST   { parse_word_call(parser, $head, $forms);
                            parse_rest(parser, $REST); }

call:
  head ids ')'[close]          { parse_word_call(parser, $head, $ids);
                                 parser->op.close = token_begin($close); }
| head ids ',' ')'[close]      { parse_word_call(parser, $head, $ids);
                                 parser->op.close = token_begin($close); }
| head ')'[close]              { parse_word_call(parser, $head, 0);
                                 parser->op.close = token_begin($close); }
| head forms comma ')'[close]  { parse_word_call(parser, $head, $forms);
                                 parser->op.close = token_begin($close); }
| ids '=' rare_op_type '(' operands ')'
      { parse_results(parser, $1, $1); parse_call(parser, $rare_op_type, $operands); }
| WORD '(' operands ')'
      { parse_results(parser, $1, 0); parse_word_call(parser, $WORD, $operands); }
| rare_op_type '(' operands ')'
      { parse_results(parser, $1, 0); parse_call(parser, $rare_op_type, $operands); }

head:
  ids '=' WORD '('  { parse_results(parser, $1, $1); $$ = $WORD; }
| HEAD              { parse_push_id(parser, $HEAD); parse_results(parser, $HEAD, 1);
                      $$ = parser->scanner.callee; }
| ids ',' HEAD      { parse_push_id(parser, $HEAD); parse_results(parser, $1, $1 + 1);
                      $$ = parser->scanner.callee; }

rare_op_type:
  INSTR   { parse_small_op_type(parser, $INSTR); $$ = $INSTR; }
| STRING

operands:
  %empty  { $$ = 0; }
| ids
| ids ','
| forms comma

/* Operands of which one is not a plain value; what stands before it has been taken for `ids`. The
 * number is that of their values. */
forms:
  form             { parse_push_form(parser, $form); $$ = parse_form_values($form); }
| ids ',' form     { parse_plain_forms(parser, $ids); parse_push_form(parser, $form);
                     $$ = token_id($ids) + parse_form_values($form); }
| forms ',' form   { parse_push_form(parser, $form); $$ = $1 + parse_form_values($form); }
| forms ',' VALUE  { parse_push_id(parser, $VALUE); parse_plain_forms(parser, 1); $$ = $1 + 1; }
| forms MORE       { parse_push_id(parser, $MORE); parse_plain_forms(parser, 1); $$ = $1 + 1; }

/* As parse_form packs it. */
form:
  unlabelled            { $$ = parse_form(NONE, $unlabelled); }
| label '=' unlabelled  { $$ = parse_form($label, $unlabelled); }
| label '=' VALUE       { parse_push_id(parser, $VALUE); $$ = parse_form($label, FORM_VALUE); }

unlabelled:
  KW_none            { $$ = FORM_NONE; }
| '[' ']'            { $$ = 0; }
| '[' ids comma ']'  { $$ = $ids; }

label:
  word
| keyword

result_types:
  ':' new_type                 { parse_op_type(parser, $new_type); }
| ':' KW_token                 { parse_op_type(parser, module_token(parser->module)); }
| ':' '(' ')'                  { parser->op.no_types = true; }
| ':' '(' type_list comma ')'  { parser->op.types = $type_list; }

/* Each at most once, in this order. */
clauses:
  via
| via ordering
| ordering

ordering:
  after
| after events_clauses
| events_clauses

events_clauses:
  send
| send recv
| recv

via:
  KW_via SYMBOL  { parser->op.kernel = token_id($SYMBOL) + 1; }

after:
  KW_after '(' ids ')'  { parser->op.after = $ids; }

send:
  KW_send '[' events ']'  { parser->op.send = $events; }

recv:
  KW_recv '[' events ']'  { parser->op.recv = $events; }

events:
  event             { parse_push_id(parser, $event); $$ = 1; }
| events ',' event  { parse_push_id(parser, $event); $$ = $1 + 1; }

event:
  any_word
| INT  { $$ = module_name_printf(parser->module, "%lld", (long long)$INT); }

any_word:
  WORD
| INSTR
| EVENT_INSTR
| DTYPE
| keyword
| KW_true
| KW_false

/* --------------------------------------------------------------------------- entries */

entry:
  KW_entry SYMBOL ':' word attrs '{'
      { parse_entry_begin(parser, word_span(parser, $1), $SYMBOL, word_span(parser, $word), $word,
                          $attrs); }
  entry_items '}'[end]  { parse_entry_end(parser, rule_span(parser, $end, RULE_END)); }

entry_items:
  %empty
| entry_items group
| entry_items program
| entry_items error RESYNC  { parse_recover(parser); yyerrok; }

group:
  group_head args comma ']'
| group_head ']'

/* An action of its own would be one before the word is known to begin a group. */
group_head:
  args_word '['             { parse_group(parser, $args_word, NONE, false); }
| args_word VALUE '=' '['   { parse_group(parser, $args_word, token_id($VALUE), false); }
| args_word any_word '=' '['
      { parse_group(parser, $args_word, token_id($any_word), true); }
| args_word STRING '=' '['  { parse_group(parser, $args_word, token_id($STRING), true); }

args_word:
  WORD

args:
  arg
| args ',' arg

arg:
  VALUE          { parse_arg(parser, ARG_VALUE, token_id($VALUE), 0); }
| KW_none        { parse_arg(parser, ARG_NONE, NONE, 0); }
| word           { parse_arg(parser, ARG_WORD, token_id($word), 0); }
| KW_send event  { parse_arg(parser, ARG_SEND, token_id($event), 0); }
| KW_recv event  { parse_arg(parser, ARG_RECV, token_id($event), 0); }
| '[' ']'            { parse_arg(parser, ARG_LIST, 0, 0); }
| '[' ids comma ']'  { parse_arg(parser, ARG_LIST, 0, $ids); }

program:
  WORD body_brace { parse_program_begin(parser, word_span(parser, $WORD), $WORD); }
  instrs '}'[end]    { parse_program_end(parser, rule_span(parser, $end, RULE_END)); }

instrs:
  %empty
| instrs instr

instr:
  INSTR instr_operands
      { parse_instr(parser, rule_span(parser, $INSTR, RULE_END), $INSTR, $instr_operands); }
| EVENT_INSTR event_operands
      { parse_instr(parser, rule_span(parser, $EVENT_INSTR, RULE_END), $EVENT_INSTR,
                    $event_operands); }
| error RESYNC  { parse_recover(parser); yyerrok; }

/* Any word may be an event, even that of an instruction. */
event_operands:
  event         { parse_push_value(parser, value_id(ATTR_WORD, $event)); $$ = 1; }
| event VALUE   { parse_push_value(parser, value_id(ATTR_WORD, $event));
                  parse_push_value(parser, value_id(ATTR_VALUE, $VALUE)); $$ = 2; }
| event WORD    { parse_push_value(parser, value_id(ATTR_WORD, $event));
                  parse_push_value(parser, value_id(ATTR_WORD, $WORD)); $$ = 2; }
| event STRING  { parse_push_value(parser, value_id(ATTR_WORD, $event));
                  parse_push_value(parser, value_id(ATTR_STRING, $STRING)); $$ = 2; }

instr_operands:
  %empty  { $$ = 0; }
| instr_operands INT
      { parse_push_value(parser, value_int(ATTR_INT, $INT)); $$ = $1 + 1; }
| instr_operands core_word
      { parse_push_value(parser, value_id(ATTR_WORD, $core_word)); $$ = $1 + 1; }
| instr_operands SYMBOL
      { parse_push_value(parser, value_id(ATTR_SYMBOL, $SYMBOL)); $$ = $1 + 1; }
| instr_operands VALUE
      { parse_push_value(parser, value_id(ATTR_VALUE, $VALUE)); $$ = $1 + 1; }
| instr_operands STRING
      { parse_push_value(parser, value_id(ATTR_STRING, $STRING)); $$ = $1 + 1; }

core_word:
  WORD

%%

/* The scanner's tokens are those of the parser. */
#define SAME_TOKEN(name) _Static_assert((int)name == (int)TOKEN_##name, "the order of enum token")
SAME_TOKEN(END);
SAME_TOKEN(RESYNC);
SAME_TOKEN(VALUE);
SAME_TOKEN(SYMBOL);
SAME_TOKEN(STRING);
SAME_TOKEN(WORD);
SAME_TOKEN(DTYPE);
SAME_TOKEN(INSTR);
SAME_TOKEN(TYPE);
SAME_TOKEN(DICT);
SAME_TOKEN(HEAD);
SAME_TOKEN(MORE);
SAME_TOKEN(REST);
SAME_TOKEN(INT);
SAME_TOKEN(FLOAT);
SAME_TOKEN(ATTR_BRACE);
SAME_TOKEN(ARROW);
SAME_TOKEN(DOTS);
_Static_assert((int)SKIR_YYerror == (int)TOKEN_ERROR, "the order of enum token");
#define KEYWORD(name)                                                                              \
    _Static_assert((int)KW_##name == (int)TOKEN_KEYWORD + (int)W_##name, "the order of words.def");
#define WORD(name)
#include "ir/core/words.def"

static int start_resync(struct parser *parser)
{
    if (parser->scanner.cursor < parser->scanner.limit)
        parser->scanner.resync_depth = parser->open_braces;
    return SKIR_YYerror;
}

static int skir_yylex(union token_value *value, struct parser *parser)
{
    int token = scanner_next(&parser->scanner, value);
    return token == TOKEN_ERROR ? start_resync(parser) : token;
}

/* What a syntax error is about: the tokens that may be in the place of the one that was found. */
struct expected {
    yysymbol_kind_t at[YYNTOKENS];
    int count;
    bool any_word; /* keywords are words like any others */
};

static bool expects(const struct expected *expected, yysymbol_kind_t symbol)
{
    for (int i = 0; i < expected->count; i++)
        if (expected->at[i] == symbol)
            return true;
    return false;
}

/* Whether it is several tokens in one, all of which may stand where the first one may. */
static bool is_several(yysymbol_kind_t symbol)
{
    return symbol == YYSYMBOL_DICT || symbol == YYSYMBOL_HEAD ||
           symbol == YYSYMBOL_MORE || symbol == YYSYMBOL_REST;
}

/* "expected A, B or C"; "" where there are so many that they help nobody. What is several tokens in
 * one may stand where the first of them may, and an instruction for an event where others may: they
 * are not listed. */
static const char *expected_text(const struct expected *expected, struct arena *scratch)
{
    enum { MOST = 6 };
    yysymbol_kind_t listed[YYNTOKENS];
    int count = 0;
    const char *text = "";
    for (int i = 0; i < expected->count; i++) {
        yysymbol_kind_t symbol = expected->at[i];
        bool word = symbol == YYSYMBOL_DTYPE || symbol == YYSYMBOL_INSTR ||
                    (symbol >= YYSYMBOL_KW_skir && symbol <= YYSYMBOL_KW_false);
        if (symbol != YYSYMBOL_EVENT_INSTR && !is_several(symbol) && !(expected->any_word && word))
            listed[count++] = symbol;
    }
    for (int i = 0; i < count && count <= MOST; i++) {
        const char *comma = !*text ? "expected " : i + 1 < count ? ", " : " or ";
        text = arena_printf(scratch, "%s%s%s", text, comma, yysymbol_name(listed[i]));
    }
    return text;
}

/* A word stands where an operand should, which would be a label if `=` followed. It is the last
 * token before this one. */
static bool report_label(struct parser *parser)
{
    const char *end = parser->scanner.previous_end, *begin = end;
    while (begin > parser->scanner.source->text &&
           (begin[-1] == '_' || isalnum((unsigned char)begin[-1])))
        begin--;
    if (!diag_at(parser->diags, DIAG_syntax,
                 (struct span){offset_of(parser, begin), offset_of(parser, end)},
                 "'%.*s' is no operand", (int)(end - begin), begin))
        return false;
    uint32_t name = intern_find(&parser->module->names, begin, (size_t)(end - begin));
    if (name != NONE && id_map_find(&parser->value_of_name, name) != NONE)
        diag_help(parser->diags, "did you mean '%%%.*s'?", (int)(end - begin), begin);
    else if ((size_t)(end - begin) == 4 && memcmp(begin, "None", 4) == 0)
        diag_help(parser->diags, "did you mean 'none'?");
    diag_help(parser->diags, "an operand is a value '%%NAME', 'none' or a list '[%%A, %%B]', and "
                             "may have a label: 'LABEL = %%NAME'");
    return true;
}

static unsigned context_of(yysymbol_kind_t symbol)
{
    static const struct {
        const char *name;
        unsigned expects;
    } others[] = {{"':'", EXPECTS_COLON},   {"'}'", EXPECTS_UNBRACE}, {"','", EXPECTS_COMMA},
                  {"'='", EXPECTS_EQUAL},   {"'['", EXPECTS_BRACKET}, {"'('", EXPECTS_OPEN},
                  {"')'", EXPECTS_CLOSE},   {"'*'", EXPECTS_STAR},    {"'?'", EXPECTS_QUERY}};
    switch (symbol) {
    case YYSYMBOL_KW_kernel: return EXPECTS_ITEM;
    case YYSYMBOL_SYMBOL: return EXPECTS_SYMBOL;
    case YYSYMBOL_STRING: return EXPECTS_STRING;
    case YYSYMBOL_DTYPE: return EXPECTS_DTYPE;
    case YYSYMBOL_VALUE: return EXPECTS_VALUE;
    case YYSYMBOL_WORD: return EXPECTS_WORD;
    case YYSYMBOL_ATTR_BRACE: return EXPECTS_ATTRS;
    case YYSYMBOL_ARROW: return EXPECTS_ARROW;
    default: break;
    }
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        if (strcmp(yysymbol_name(symbol), others[i].name) == 0)
            return others[i].expects;
    return 0;
}

/* The help for a common mistake, or else the keyword that is spelled like what was found. */
static void help_mistake(const struct expected *expected, const struct parser *parser,
                         struct span span)
{
    const struct scanner *scanner = &parser->scanner;
    const char *begin = scanner_text(scanner, span.begin);
    struct mistake_place place = {.text = scanner->first,
                                  .begin = begin,
                                  .end = scanner_text(scanner, span.end),
                                  .before = scanner->previous_end,
                                  .context = scanner->in_body ? IN_BODY : IN_HEAD};
    for (int i = 0; i < expected->count; i++)
        place.context |= context_of(expected->at[i]);
    if (expected->any_word)
        place.context &= ~((unsigned)EXPECTS_ITEM | EXPECTS_DTYPE);
    const char *help = mistake_help(&place, &parser->diags->arena);
    if (help)
        diag_help(parser->diags, "%s", help);
    if (help || expected->any_word || !diag_wants_suggestion(parser->diags))
        return;
    struct suggest suggest = {.wanted = begin, .wanted_size = span.end - span.begin};
    for (int i = 0; i < expected->count; i++)
        if (expected->at[i] >= YYSYMBOL_KW_skir && expected->at[i] <= YYSYMBOL_KW_false) {
            const char *name = yysymbol_name(expected->at[i]); /* in quotes */
            suggest_offer(&suggest, name + 1, strlen(name) - 2);
        }
    diag_suggest(parser->diags, &suggest);
}

static int yyreport_syntax_error(const yypcontext_t *context, struct parser *parser)
{
    enum { MAX_FOUND = 40 };
    yysymbol_kind_t found = yypcontext_token(context);
    if (is_several(found))
        scanner_split(&parser->scanner); /* the error is about the first of them */
    struct expected expected;
    expected.count = yypcontext_expected_tokens(context, expected.at, YYNTOKENS);
    expected.any_word = expects(&expected, YYSYMBOL_KW_skir) && expected.at[0] < YYSYMBOL_KW_skir;
    struct span span = scanner_span(&parser->scanner);
    struct arena scratch = {NULL, 0};
    const char *list = expected_text(&expected, &scratch);
    const char *token = scanner_text(&parser->scanner, span.begin);
    uint32_t size = span.end - span.begin;
    bool kept;
    if (found == YYSYMBOL_YYEOF)
        kept = diag_at(parser->diags, DIAG_syntax, (struct span){span.begin, span.begin + 1},
                       "%s%s end of the file", list, *list ? ", found the" : "unexpected");
    else if (parser->scanner.in_body && expected.count == 1 &&
             strcmp(yysymbol_name(expected.at[0]), "'='") == 0)
        kept = report_label(parser);
    else if (*token == '{' && expects(&expected, YYSYMBOL_ATTR_BRACE) &&
             !expects(&expected, YYSYMBOL_ARROW))
        /* The scanner took it for the brace of a block, as no attribute follows it. Where an arrow
         * may follow, it is the body, and what the graph returns is missing. */
        kept = diag_at(parser->diags, DIAG_syntax, span,
                       "attributes are written '{KEY = VALUE, ...}'");
    else
        kept = diag_at(parser->diags, DIAG_syntax, span, "%s%s '%.*s'%s", list,
                       *list ? ", found" : "unexpected", (int)utf8_prefix(token, size, MAX_FOUND),
                       token, size > MAX_FOUND ? "..." : "");
    if (kept && !parser->versioned)
        diag_help(parser->diags, "a %s begins with the line 'skir 1'",
                  parser->depth ? "file that is included" : "program");
    else if (kept && found != YYSYMBOL_YYEOF)
        help_mistake(&expected, parser, span);
    arena_free(&scratch);
    start_resync(parser);
    return 0;
}

/* Called for what Bison itself runs out of: its stack. */
static void skir_yyerror(struct parser *parser, const char *text)
{
    (void)text;
    diag_at(parser->diags, DIAG_syntax, scanner_span(&parser->scanner),
            "this is nested too deeply to be parsed");
}
