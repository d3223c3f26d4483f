/* The scanner of GE's readable text. -*- c -*- */
#include "frontend/exchange/readers/ge_readable_text.h"
#include "ir/base/bytes16.h"

#include <stdarg.h>
#include <stddef.h>
#include <string.h>

/*!re2c
    re2c:define:YYCTYPE = "unsigned char";
    re2c:define:YYCURSOR = at;
    re2c:define:YYMARKER = marker;
    re2c:yyfill:enable = 0;

    blank  = [ \t\r];
    digits = [0-9]+;
    label  = [A-Za-z0-9_.:/-]+;
*/

void readable_init(struct readable_text *readable, const struct source *source,
                   struct diags *diags)
{
    *readable = (struct readable_text){.text = source->text,
                                       .at = source->text,
                                       .end = source->text + source->size,
                                       .diags = diags};
}

static struct span span_of(const struct readable_text *readable, const char *begin,
                           const char *end)
{
    return (struct span){(uint32_t)(begin - readable->text), (uint32_t)(end - readable->text)};
}

void readable_fail(struct readable_text *readable, const char *at, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    if (!readable->failed)
        diag_vat(readable->diags, DIAG_foreign_syntax,
                 span_of(readable, at, at + (at < readable->end)), format, args);
    va_end(args);
    readable->failed = true;
}

static enum readable_line fail_line(struct readable_text *readable, const char *at,
                                    const char *text)
{
    readable_fail(readable, at, "%s", text);
    return READABLE_ERROR;
}

/* The end of the line at `at`, without blanks. Lines can be long, and this is asked for each of
 * their inputs. */
static const char *line_end(struct readable_text *readable, const char *at)
{
    if (at >= readable->line && at < readable->line_end)
        return readable->line_end;
    const char *end = memchr(at, '\n', (size_t)(readable->end - at));
    end = end ? end : readable->end;
    while (end > at && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
        end--;
    readable->line = at;
    return readable->line_end = end;
}

static bool at_line_end(const struct readable_text *readable, const char *at)
{
    while (at < readable->end && (*at == ' ' || *at == '\t' || *at == '\r'))
        at++;
    return at == readable->end || *at == '\n';
}

/* The first of a few bytes within a line, or NULL. */
static const char *find(const char *at, const char *end, const char *wanted)
{
    ptrdiff_t size = (ptrdiff_t)strlen(wanted);
    while (end - at >= size && (at = memchr(at, *wanted, (size_t)(end - at - size + 1)))) {
        if (memcmp(at, wanted, (size_t)size) == 0)
            return at;
        at++;
    }
    return NULL;
}

/* A number that is at most 9 digits long, which is checked. */
static uint32_t number_of(const char *at, const char *end)
{
    uint32_t number = 0;
    while (at < end)
        number = number * 10 + (uint32_t)(*at++ - '0');
    return number;
}

/* ------------------------------------------------------------------------------ lines ---- */

static enum readable_line read_graph(struct readable_text *readable, const char *name)
{
    const char *end = line_end(readable, name);
    if (end - name < 3 || memcmp(end - 3, "\"):", 3) != 0)
        return fail_line(readable, end, "expected `\"):` at the end of this line");
    readable->name = span_of(readable, name, end - 3);
    readable->at = end;
    return READABLE_GRAPH;
}

/* ` : [#users=N] = `, behind a name; NULL where that is not there. */
static const char *pass_users(const char *at, uint32_t *users)
{
    const char *marker, *number;
    /*!re2c
        " : [" "#"? [a-z_]* "users=" [0-9]{1,9} "] = " { goto found; }
        *                                              { return NULL; }
    */
found:
    for (number = at - 4; number[-1] != '=';)
        number--;
    *users = number_of(number, at - 4);
    return at;
}

/* The node's type, which ends before `] (`. */
static enum readable_line read_node(struct readable_text *readable, const char *type,
                                    const char *end)
{
    const char *behind = find(type, end, "] (");
    if (!behind || behind == type)
        return fail_line(readable, type, "expected a type and `] (` here");
    readable->type = span_of(readable, type, behind);
    readable->at = behind + 3;
    return READABLE_NODE;
}

/* The node's name and `](N)` up to the end of the line. */
static enum readable_line read_output(struct readable_text *readable, const char *node,
                                      const char *end)
{
    const char *at = end - (end > node && end[-1] == ')'), *last = at;
    while (at > node && last - at < 10 && at[-1] >= '0' && at[-1] <= '9')
        at--;
    if (last == end || last - at > 9 || at == last || at - node < 3 ||
        memcmp(at - 2, "](", 2) != 0)
        return fail_line(readable, node, "expected a name and `](N)` here");
    readable->type = span_of(readable, node, at - 2);
    readable->number = number_of(at, last);
    readable->at = end;
    return READABLE_OUTPUT;
}

/* What stands behind `%`. The name may have anything in it. */
static enum readable_line read_value(struct readable_text *readable, const char *name)
{
    static const char node[] = "Node[type=", output[] = "get_element[node=%";
    const char *end = line_end(readable, name), *behind = NULL, *at = name;
    while (!behind && (at = find(at, end, " : [")))
        if (!(behind = pass_users(at, &readable->number)))
            at++;
    if (!behind || at == name)
        return fail_line(readable, name, "expected a name and ` : [#users=N] = ` here");
    readable->name = span_of(readable, name, at);
    if (strncmp(behind, node, sizeof node - 1) == 0)
        return read_node(readable, behind + sizeof node - 1, end);
    if (strncmp(behind, output, sizeof output - 1) == 0)
        return read_output(readable, behind + sizeof output - 1, end);
    return fail_line(readable, behind, "expected `Node[type=` or `get_element[node=%` here");
}

enum readable_line readable_next(struct readable_text *readable)
{
    const char *at = readable->at, *start, *marker;
    if (readable->failed)
        return READABLE_ERROR;
    for (;;) {
        start = at;
        /*!re2c
            (blank | "\n")+         { continue; }
            "graph" blank* "(\""    { return read_graph(readable, at); }
            "%"                     { return read_value(readable, at); }
            "return" blank* "("     { readable->name = span_of(readable, start, start + 6);
                                      readable->at = at;
                                      return READABLE_RETURN; }
            "\x00"                  { if (start == readable->end)
                                          return READABLE_END;
                                      return fail_line(readable, start, "this byte is no text"); }
            *                       { return fail_line(readable, start,
                                          "expected `graph(\"NAME\"):`, `%NAME : [#users=N] = "
                                          "Node[type=TYPE] (...)` or `return (...)` here"); }
        */
    }
}

/* -------------------------------------------------------------------- parts of nodes ---- */

enum readable_part readable_part(struct readable_text *readable)
{
    const char *at = readable->at, *marker;
    /*!re2c
        blank* ","? blank* "inputs" blank* "=" blank* "(" { readable->at = at;
                                                            return READABLE_INPUTS; }
        blank* ","? blank* "attrs" blank* "=" blank* "{"  { readable->at = at;
                                                            return READABLE_ATTRS; }
        blank* ")"                                        { goto closed; }
        *                                                 { goto wrong; }
    */
closed:
    if (at_line_end(readable, at)) {
        readable->at = at;
        return READABLE_DONE;
    }
wrong:
    readable_fail(readable, readable->at,
                  "expected `inputs = (...)`, `attrs = {...}` or the closing `)` here");
    return READABLE_FAILED;
}

/* `LABEL=%` or `%`; NULL where there is neither. */
static const char *pass_label(const char *at, const char **label_end)
{
    const char *marker, *start = at;
    /*!re2c
        label "=%" { *label_end = at - 2; return at; }
        "%"        { *label_end = start; return at; }
        *          { return NULL; }
    */
}

/* Whether parentheses end here, at `)`: that of a node's inputs or of what is returned. */
static bool ends_inputs(const struct readable_text *readable, const char *at)
{
    at++;
    if (at_line_end(readable, at) || (*at == ')' && at_line_end(readable, at + 1)))
        return true;
    if (*at++ != ',')
        return false;
    while (*at == ' ')
        at++;
    return strncmp(at, "attrs = {", 9) == 0;
}

/* Whether another input stands behind the comma at `at`. */
static bool ends_input(const char *at)
{
    const char *end;
    at++;
    while (*at == ' ')
        at++;
    return pass_label(at, &end) != NULL;
}

bool readable_input(struct readable_text *readable, struct span *label, struct span *name)
{
    const char *start = readable->at, *label_end, *at, *end;
    while (*start == ' ')
        start++;
    if (*start == ')') {
        readable->at = start + 1;
        return false;
    }
    if (!(at = pass_label(start, &label_end))) {
        readable_fail(readable, start, "expected `LABEL=%%NAME` or `)` here");
        return false;
    }
    *label = span_of(readable, start, label_end);
    end = line_end(readable, at);
    for (const char *stop = at; (stop = bytes16_either(stop, end, ',', ')')) < end; stop++) {
        bool comma = *stop == ',' && ends_input(stop);
        if (!comma && !(*stop == ')' && ends_inputs(readable, stop)))
            continue;
        if (stop == at)
            break;
        *name = span_of(readable, at, stop);
        readable->at = stop + comma;
        return true;
    }
    readable_fail(readable, at, "expected a name and `)` here");
    return false;
}

/* ------------------------------------------------------------------------- attributes ---- */

/* `KEY:` and a blank; NULL where it is not there. */
static const char *pass_key(const char *at, const char **end)
{
    const char *marker;
    /*!re2c
        label ": " { *end = at - 2; return at; }
        *          { return NULL; }
    */
}

bool readable_key(struct readable_text *readable, struct span *key)
{
    const char *at = readable->at, *end, *behind;
    while (*at == ' ' || *at == ',')
        at++;
    if (*at == '}') {
        readable->at = at + 1;
        return false;
    }
    if (at == readable->key) {
        end = readable->key_end;
        behind = end + 2;
    } else if (!(behind = pass_key(at, &end))) {
        readable_fail(readable, at, "expected `KEY: ` or `}` here");
        return false;
    }
    *key = span_of(readable, at, end);
    readable->at = behind;
    return true;
}

static bool ends_value(struct readable_text *readable, const char *at)
{
    if (*at == '}')
        return at[1] == ')' && at_line_end(readable, at + 2);
    if (*at != ',' || at[1] != ' ' || !pass_key(at + 2, &readable->key_end))
        return false;
    readable->key = at + 2;
    return true;
}

bool readable_ends_value(struct readable_text *readable)
{
    return ends_value(readable, readable->at);
}

/* The end of a string behind its opening quote: quotes and ends of lines in it are not escaped, so
 * the closing quote is the first one behind which something else can go on. NULL: there is none. */
static const char *string_end(const struct readable_text *readable, const char *at)
{
    while ((at = memchr(at, '"', (size_t)(readable->end - at)))) {
        at++;
        if (*at == '}' || *at == ']' || (*at == ',' && at[1] == ' '))
            return at;
    }
    return NULL;
}

static enum readable_token take_string(struct readable_text *readable, const char *at,
                                       struct span *span)
{
    const char *end = string_end(readable, at);
    if (!end) {
        readable_fail(readable, at - 1, "this string does not end");
        return READABLE_OTHER;
    }
    *span = span_of(readable, at, end - 1);
    readable->at = end;
    return READABLE_STRING;
}

/* A name ends before `}`, or a comma and what can stand behind it. */
static enum readable_token take_symbol(struct readable_text *readable, const char *at,
                                       struct span *span)
{
    const char *end = line_end(readable, at), *stop = at;
    while (stop < end && *stop != '}' && !(*stop == ',' && stop[1] == ' '))
        stop++;
    *span = span_of(readable, at, stop);
    readable->at = stop;
    return stop > at ? READABLE_SYMBOL : READABLE_OTHER;
}

enum readable_token readable_token(struct readable_text *readable, struct span *span)
{
    const char *at = readable->at, *start, *marker;
    enum readable_token token;
    for (;;) {
        start = at;
        /*!re2c
            integer = [+-]? digits;
            float   = [+-]? (digits "." [0-9]* ([eE] [+-]? digits)? | digits [eE] [+-]? digits
                             | "inf" | "nan");

            blank+            { continue; }
            [{[]              { token = READABLE_OPEN; break; }
            "}" | "]"         { token = READABLE_CLOSE; break; }
            ","               { token = READABLE_COMMA; break; }
            integer           { token = READABLE_INT; break; }
            float             { token = READABLE_FLOAT; break; }
            "true"            { token = READABLE_TRUE; break; }
            "false"           { token = READABLE_FALSE; break; }
            "DT_" [A-Z0-9_]+  { token = READABLE_DTYPE; break; }
            "\""              { return take_string(readable, at, span); }
            "%"               { return take_symbol(readable, at, span); }
            *                 { token = READABLE_OTHER; break; }
        */
    }
    *span = span_of(readable, start, at);
    readable->at = token == READABLE_OTHER ? start : at;
    return token;
}

/* The end of a value that starts at `at`: outside of brackets, if they are heeded. */
static const char *value_end(struct readable_text *readable, const char *at, bool heed)
{
    int depth = 0;
    for (; at < readable->end && *at != '\n'; at++) {
        if ((!heed || depth == 0) && ends_value(readable, at))
            return at;
        depth += *at == '{' || *at == '[';
        depth -= depth > 0 && (*at == '}' || *at == ']');
    }
    return NULL;
}

bool readable_pass(struct readable_text *readable, const char *from, struct span *span)
{
    const char *end = from < readable->unheeded ? NULL : value_end(readable, from, true);
    if (!end) {
        readable->unheeded = line_end(readable, from);
        end = value_end(readable, from, false);
    }
    if (!end) {
        readable_fail(readable, from, "expected `})` at the end of this line");
        return false;
    }
    *span = span_of(readable, from, end);
    readable->at = end;
    return true;
}
