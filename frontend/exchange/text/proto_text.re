/* The scanner of protobuf's text format. -*- c -*- */
#include "frontend/exchange/text/proto_error.h"
#include "frontend/exchange/text/proto_scan.h"
#include "frontend/exchange/text/proto_space.h"

/*!re2c
    re2c:define:YYCTYPE = "unsigned char";
    re2c:define:YYCURSOR = at;
    re2c:define:YYMARKER = marker;
    re2c:yyfill:enable = 0;

    blank   = [ \t\r\n\v\f];
    comment = "#" [^\n\x00]*;
    space   = (blank | comment "\n")*;
    word    = [A-Za-z_][A-Za-z0-9_]*;
    digits  = [0-9]+;
    hex     = [0-9A-Fa-f];
    other   = [^];
*/

enum proto_value proto_scan_value(struct proto_text *proto, const char *start)
{
    const char *at = start, *marker;
#define TAKE(value) return proto->at = at, value
    /*!re2c
    escape  = "\\" ([abfnrtv?'"\\] | [0-7] | [xX] hex | "u" hex{4} | "U00" ("0" hex | "10") hex{4});
    plain   = ["] [^"\\\n\x00]* ["] | ['] [^'\\\n\x00]* ['];
    escaped = ["] ([^"\\\n\x00] | escape)* ["] | ['] ([^'\\\n\x00] | escape)* ['];
    lost    = ["] ([^"\\\n\x00] | escape)* | ['] ([^'\\\n\x00] | escape)*;

    exponent = [eE] [-+]? digits;
    decimal  = (("0" | [1-9][0-9]*) ("." [0-9]*)? | "." digits) exponent? [fF]?;
    octal    = "0" [0-7]+;
    hexadecimal = "0" [xX] hex+;
    number   = decimal | octal | hexadecimal;

    "-"? number { TAKE(VALUE_NUMBER); }
    "-"? (number "." | "0" [0-7]* [89] [0-9]* | "0" [xX] | decimal [eE] [-+]?) {
        return (enum proto_value)proto_error_number(proto, start, at);
    }
    "-"? word { TAKE(VALUE_WORD); }
    "-"       { TAKE(VALUE_MINUS); }
    plain     { TAKE(VALUE_PLAIN); }
    escaped   { TAKE(VALUE_ESCAPED); }
    [{<]      { TAKE(VALUE_OPEN); }
    "["       { TAKE(VALUE_LIST); }
    lost      { return (enum proto_value)proto_error_string(proto, start, at); }
    other     { return (enum proto_value)proto_error_expected(proto, start, "a value"); }
    */
#undef TAKE
}

enum proto_head proto_scan_head(struct proto_text *proto, const char *start)
{
    const char *at = start, *marker;
#define TAKE(head) return proto->at = at, head
    /*!re2c
    part = [-A-Za-z0-9_~!$&()*+,;=%]+;
    path = part (space "." space part)*;

    word | digits { TAKE(HEAD_NAME); }
    "[" space path (space "/" space path)* space "]" { TAKE(HEAD_BRACKETED); }
    "[" {
        return (enum proto_head)proto_error(proto, start, at, "for example [package.name] or "
                                      "[type.googleapis.com/package.Name]",
                                      "this is no name of an extension or of an Any");
    }
    [}>]   { TAKE(HEAD_CLOSE); }
    [,;]   { TAKE(HEAD_SEPARATOR); }
    [\x00] {
        if (start == proto->end)
            return HEAD_END;
        return (enum proto_head)proto_error_byte(proto, start);
    }
    other  { return (enum proto_head)proto_error_expected(proto, start, "the name of a field"); }
    */
#undef TAKE
}

bool proto_scan_message(struct proto_text *proto)
{
    uint32_t depth = proto->depth, outer = depth - 1;
    const char *at = proto->at, *marker, *start;
    bool plain;
    for (;;) {
        start = find_mark(proto, at);
        at = skip_string(proto, start, &plain);
        if (at)
            continue;
        at = start;
        /*!re2c
        [A-Za-z0-9_:.,;/\-+~!$&()*=%[\]]+ { continue; }
        blank+    { at = skip_space(proto, at); continue; }
        plain | escaped { continue; }
        comment   { continue; }
        [{<] {
            if (depth == PROTO_DEPTH)
                return proto_error_deep(proto, start);
            proto->levels[++depth] =
                (struct proto_level){.begin = start, .close = *start == '{' ? '}' : '>'};
            continue;
        }
        [}>] {
            if (*start != proto->levels[depth].close)
                return proto_error_close(proto, start, depth);
            if (--depth > outer)
                continue;
            proto->at = at;
            proto->depth = outer;
            proto->first = false;
            return true;
        }
        lost      { return proto_error_string(proto, start, at); }
        [\x00] {
            if (start == proto->end)
                return proto_error_open(proto, depth);
            return proto_error_byte(proto, start);
        }
        other     { return proto_error_byte(proto, start); }
        */
    }
}
