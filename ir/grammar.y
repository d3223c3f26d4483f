/* The grammar of .skir text. docs/language.md has it in prose. -*- c -*- */
%define api.pure full
%define api.prefix {skir_yy}
%define api.location.type {struct span}
%define parse.error custom
%define lr.default-reduction consistent
%locations
%expect 0
%param {struct parser *parser}

%code requires {
#include "ir/parser.h"
}

%code {
static int skir_yylex(SKIR_YYSTYPE *value, struct span *span, struct parser *parser);
static void skir_yyerror(struct span *span, struct parser *parser, const char *text);

#define YYLLOC_DEFAULT(current, rhs, n)                                                            \
    do {                                                                                           \
        if (n)                                                                                     \
            (current) = (struct span){YYRHSLOC(rhs, 1).begin, YYRHSLOC(rhs, n).end};               \
        else                                                                                       \
            (current) = (struct span){YYRHSLOC(rhs, 0).end, YYRHSLOC(rhs, 0).end};                 \
    } while (0)

static struct attr_value value_id(enum attr_kind kind, uint64_t id)
{
    return (struct attr_value){.kind = kind, .id = (uint32_t)id};
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

/* All of one size: each entry of the stack is copied as a whole, and what was stored in part cannot
 * be loaded as a whole without a stall. Anything larger goes to the stacks of the parser. */
%union {
    uint64_t id;
    uint64_t count;
    int64_t i;
    double f;
    struct range range;
}

%token END 0 "end of file"
%token RESYNC "end of line"
%token <id> VALUE "value (%name)"
%token <id> SYMBOL "symbol (@name)"
%token <id> STRING "string"
%token <id> WORD "word"
%token <id> DTYPE "element type"
%token <id> INSTR "instruction"
%token <id> TYPE "type"
%token <i> INT "integer"
%token <f> FLOAT "number"
%token ATTR_BRACE "'{' of attributes"
%token ARROW "'->'"
%token <id> KW_skir "'skir'" KW_target "'target'" KW_kernel "'kernel'" KW_graph "'graph'"
%token <id> KW_entry "'entry'"
%token <id> KW_scope "'scope'" KW_stream "'stream'" KW_superkernel "'superkernel'" KW_none "'none'"
%token <id> KW_return "'return'" KW_via "'via'" KW_after "'after'" KW_send "'send'" KW_recv "'recv'"
%token <id> KW_gears "'gears'" KW_zip "'zip'" KW_product "'product'"
%token <id> KW_true "'true'" KW_false "'false'"

%type <id> word rare_key rare_op_type type format keyword core_word event
%type <count> dims dim_list params param_list ids types type_list values value_list attr_items
%type <count> events gear_values instr_operands
%type <range> attrs dict

%%

module:
  version items

version:
  KW_skir INT  { parse_version(parser, @$, @INT, $INT); }

items:
  %empty
| items item

item:
  target
| kernel
| graph
| entry
| error RESYNC  { parse_recover(parser); yyerrok; }

target:
  KW_target STRING attrs  { parse_target(parser, @$, $STRING, $attrs); }

kernel:
  KW_kernel SYMBOL ':' word attrs  { parse_kernel(parser, @$, $SYMBOL, @word, $word, $attrs); }

/* ------------------------------------------------------------------------ attributes */

attrs:
  %empty  { $$ = (struct range){0, 0}; }
| dict

dict:
  ATTR_BRACE attr_items '}'      { $$ = parse_take_attrs(parser, $attr_items); }
| ATTR_BRACE attr_items ',' '}'  { $$ = parse_take_attrs(parser, $attr_items); }

attr_items:
  attr                 { $$ = 1; }
| attr_items ',' attr  { $$ = $1 + 1; }

/* WORD, by far the most frequent key, goes without a rule of its own. */
attr:
  WORD '=' value        { parse_push_attr(parser, @WORD, $WORD); }
| WORD                  { parse_push_value(parser, value_int(ATTR_BOOL, 1));
                          parse_push_attr(parser, @$, $WORD); }
| rare_key '=' value    { parse_push_attr(parser, @rare_key, $rare_key); }
| rare_key              { parse_push_value(parser, value_int(ATTR_BOOL, 1));
                          parse_push_attr(parser, @$, $rare_key); }

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
| '[' values ']'  { parse_push_list(parser, $values); }
| dict      { parse_push_value(parser, value_dict($dict)); }
| '{' '}'   { parse_push_value(parser, value_dict((struct range){0, 0})); }

values:
  %empty  { $$ = 0; }
| value_list comma

value_list:
  value                 { $$ = 1; }
| value_list ',' value  { $$ = $1 + 1; }

word:
  WORD
| INSTR
| DTYPE

keyword:
  KW_skir | KW_target | KW_kernel | KW_graph | KW_entry | KW_scope | KW_stream | KW_superkernel
| KW_none | KW_return | KW_via | KW_after | KW_send | KW_recv | KW_gears | KW_zip | KW_product

/* ----------------------------------------------------------------------------- types */

type:
  TYPE
| DTYPE '[' dims ']' format  { $$ = parse_take_type(parser, @$, $DTYPE, $dims, $format); }

format:
  %empty    { $$ = W_ND; }
| ':' WORD  { $$ = $WORD; }

dims:
  %empty  { $$ = 0; }
| dim_list

dim_list:
  dim               { $$ = 1; }
| dim_list ',' dim  { $$ = $1 + 1; }

dim:
  INT   { parse_push_dim(parser, parse_static_dim(parser, @$, $INT)); }
| '?'   { parse_push_dim(parser, DIM_UNKNOWN); }
| word  { parse_push_dim(parser, DIM_GEAR + $word); }

/* ---------------------------------------------------------------------------- graphs */

graph:
  KW_graph SYMBOL { parse_graph_begin(parser, @$, $SYMBOL); }
  '(' params ')' gears ARROW types { parse_graph_results(parser, $types); }
  body_brace body '}'[end]  { parse_graph_end(parser, @end); }

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
  VALUE ':' type attrs  { parse_param(parser, @VALUE, $VALUE, $type, $attrs); }

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
  word '=' '[' gear_values ']'  { parse_gear(parser, @word, $word, $gear_values); }

gear_values:
  INT                  { parse_push_value(parser, value_int(ATTR_INT, $INT)); $$ = 1; }
| gear_values ',' INT  { parse_push_value(parser, value_int(ATTR_INT, $INT)); $$ = $1 + 1; }

types:
  type           { parse_push_id(parser, $type); $$ = 1; }
| '(' ')'        { $$ = 0; }
| '(' type_list comma ')'  { $$ = $type_list; }

type_list:
  type                { parse_push_id(parser, $type); $$ = 1; }
| type_list ',' type  { parse_push_id(parser, $type); $$ = $1 + 1; }

body:
  statements
| statements return

return:
  KW_return      { parse_return(parser, @$, 0); }
| KW_return ids  { parse_return(parser, @$, $ids); }

ids:
  VALUE          { parse_push_id(parser, $VALUE); $$ = 1; }
| ids ',' VALUE  { parse_push_id(parser, $VALUE); $$ = $1 + 1; }

statements:
  %empty
| statements op
| statements block_head '{' statements '}'  { parse_block_end(parser, @5); }
| statements error RESYNC                   { parse_recover(parser); yyerrok; }

block_head:
  KW_scope SYMBOL attrs        { parse_block_begin(parser, @$, BLOCK_SCOPE, $SYMBOL, $attrs); }
| KW_scope KW_none             { parse_block_begin(parser, @$, BLOCK_SCOPE_NONE, NONE,
                                                   (struct range){0, 0}); }
| KW_stream STRING attrs       { parse_block_begin(parser, @$, BLOCK_STREAM, $STRING, $attrs); }
| KW_superkernel SYMBOL attrs  { parse_block_begin(parser, @$, BLOCK_SUPERKERNEL, $SYMBOL,
                                                   $attrs); }

/* The parts of an op are gathered in parser->op: they would make every entry of the parser's stack
 * larger. Most ops have a WORD for their type and results, and go without a rule for either. */
op:
  ids '=' WORD op_tail          { parse_op(parser, @$, $WORD, $ids); }
| WORD op_tail                  { parse_op(parser, @$, $WORD, 0); }
| ids '=' rare_op_type op_tail  { parse_op(parser, @$, $rare_op_type, $ids); }
| rare_op_type op_tail          { parse_op(parser, @$, $rare_op_type, 0); }

rare_op_type:
  INSTR
| STRING

op_tail:
  '(' operands ')' attrs result_types clauses  { parser->op.attrs = $attrs; }

operands:
  %empty
| ids      { parser->op.operands = $ids; }
| ids ','  { parser->op.operands = $ids; }

result_types:
  %empty
| ':' type                     { parse_push_id(parser, $type); parser->op.types = 1; }
| ':' '(' ')'
| ':' '(' type_list comma ')'  { parser->op.types = $type_list; }

/* Each at most once, in this order. */
clauses:
  %empty
| via
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
  KW_via SYMBOL  { parser->op.kernel = (uint32_t)$SYMBOL + 1; }

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
  WORD
| INT  { $$ = module_name_printf(parser->module, "%lld", (long long)$INT); }

/* --------------------------------------------------------------------------- entries */

entry:
  KW_entry SYMBOL ':' word attrs '{'
      { parse_entry_begin(parser, @KW_entry, $SYMBOL, @word, $word, $attrs); }
  programs '}'  { parse_entry_end(parser, @9); }

programs:
  %empty
| programs program

program:
  WORD body_brace { parse_program_begin(parser, @WORD, $WORD); }
  instrs '}'         { parse_program_end(parser, @5); }
| error RESYNC       { parse_recover(parser); yyerrok; }

instrs:
  %empty
| instrs instr

instr:
  INSTR instr_operands  { parse_instr(parser, @$, $INSTR, $instr_operands); }
| error RESYNC          { parse_recover(parser); yyerrok; }

instr_operands:
  %empty                    { $$ = 0; }
| instr_operands INT        { parse_push_value(parser, value_int(ATTR_INT, $INT)); $$ = $1 + 1; }
| instr_operands core_word  { parse_push_value(parser, value_id(ATTR_WORD, $core_word)); $$ = $1 + 1; }
| instr_operands SYMBOL     { parse_push_value(parser, value_id(ATTR_SYMBOL, $SYMBOL)); $$ = $1 + 1; }

core_word:
  WORD

%%

/* The parser's tokens for those of the scanner. */
static int keyword_token(uint32_t word)
{
    static const int tokens[] = {
#define KEYWORD(name) [W_##name] = KW_##name,
#define WORD(name)
#include "ir/words.def"
    };
    return tokens[word];
}

static int start_resync(struct parser *parser)
{
    if (parser->scanner.cursor < parser->scanner.limit)
        parser->scanner.resync_depth = parser->open_braces;
    return SKIR_YYerror;
}

static int skir_yylex(SKIR_YYSTYPE *value, struct span *span, struct parser *parser)
{
    union token_value token;
    enum token kind = scanner_next(&parser->scanner, &token);
    *span = parser->scanner.span;
    value->id = (uint64_t)token.i;
    switch (kind) {
    case TOKEN_END: return END;
    case TOKEN_ERROR: return start_resync(parser);
    case TOKEN_RESYNC: return RESYNC;
    case TOKEN_VALUE: return VALUE;
    case TOKEN_SYMBOL: return SYMBOL;
    case TOKEN_STRING: return STRING;
    case TOKEN_WORD: return WORD;
    case TOKEN_KEYWORD: return keyword_token((uint32_t)token.i);
    case TOKEN_DTYPE: return DTYPE;
    case TOKEN_INSTR: return INSTR;
    case TOKEN_TYPE: return TYPE;
    case TOKEN_INT: return INT;
    case TOKEN_FLOAT: return FLOAT;
    case TOKEN_ATTR_BRACE: return ATTR_BRACE;
    case TOKEN_ARROW: return ARROW;
    case TOKEN_CHAR: return (int)token.i;
    }
    return SKIR_YYerror;
}

/* "expected A, B or C, found D". More than a few expectations help nobody. */
enum { MAX_EXPECTED = 6, MAX_FOUND = 40 };

static const char *expected_text(const yypcontext_t *context, struct arena *scratch)
{
    yysymbol_kind_t expected[MAX_EXPECTED];
    /* 0 where there are more than fit. */
    int count = yypcontext_expected_tokens(context, expected, MAX_EXPECTED);
    const char *text = "";
    for (int i = 0; i < count; i++) {
        const char *comma = !*text ? "expected " : i + 1 < count ? ", " : " or ";
        text = arena_printf(scratch, "%s%s%s", text, comma, yysymbol_name(expected[i]));
    }
    return text;
}

/* The scanner took a brace for that of a block, as no attribute follows it. */
static bool wanted_attributes(const yypcontext_t *context, char found)
{
    yysymbol_kind_t expected[YYNTOKENS];
    int count = yypcontext_expected_tokens(context, expected, YYNTOKENS);
    for (int i = 0; i < count && found == '{'; i++)
        if (expected[i] == YYSYMBOL_ATTR_BRACE)
            return true;
    return false;
}

static int yyreport_syntax_error(const yypcontext_t *context, struct parser *parser)
{
    yysymbol_kind_t found = yypcontext_token(context);
    struct span span = *yypcontext_location(context);
    struct arena scratch = {NULL, 0};
    const char *expected = expected_text(context, &scratch);
    const char *lead = *expected ? ", found" : "unexpected";
    const char *token = parser->scanner.source->text + span.begin;
    uint32_t size = span.end - span.begin;
    bool kept;
    if (found == YYSYMBOL_YYEOF)
        kept = diag_at(parser->diags, DIAG_syntax, (struct span){span.begin, span.begin + 1},
                       "%s%s end of the file", expected, *expected ? ", found the" : "unexpected");
    else if (wanted_attributes(context, *token))
        kept = diag_at(parser->diags, DIAG_syntax, span,
                       "attributes are written '{KEY = VALUE, ...}'");
    else
        kept = diag_at(parser->diags, DIAG_syntax, span, "%s%s '%.*s'%s", expected, lead,
                       (int)(size < MAX_FOUND ? size : MAX_FOUND), token,
                       size > MAX_FOUND ? "..." : "");
    if (kept && parser->module->loc == NONE)
        diag_note(parser->diags, (struct span){0, 0}, "a program begins with the line 'skir 1'");
    arena_free(&scratch);
    start_resync(parser);
    return 0;
}

/* Called for what Bison itself runs out of: its stack. */
static void skir_yyerror(struct span *span, struct parser *parser, const char *text)
{
    (void)text;
    diag_at(parser->diags, DIAG_syntax, *span, "this is nested too deeply to be parsed");
}
