/* The printer's part for types and attributes. */
#include "ir/syntax/printer.h"

void print_spell_type(struct printer *printer, uint32_t type)
{
    struct type_text *place = &printer->type_places[type];
    struct text *texts = &printer->type_texts;
    place->first = texts->size;
    spell_type(texts, printer->module, type);
    place->size = texts->size - place->first;
}

static void print_attr_value(struct printer *printer, const struct attr_value *value);

void print_attr(struct printer *printer, const struct attr *attr)
{
    spell_word(printer->text, printer->module, attr->key);
    if (attr->value.kind == ATTR_BOOL && attr->value.i)
        return;
    text_bytes(printer->text, " = ", 3);
    print_attr_value(printer, &attr->value);
}

void print_dict(struct printer *printer, struct range attrs)
{
    text_char(printer->text, '{');
    for (uint32_t i = 0; i < attrs.count; i++) {
        if (i)
            text_bytes(printer->text, ", ", 2);
        print_attr(printer, &printer->module->attrs.at[attrs.first + i]);
    }
    text_char(printer->text, '}');
}

static void print_list(struct printer *printer, const struct attr_value *list)
{
    text_char(printer->text, '[');
    for (uint32_t i = 0; i < list->count; i++) {
        if (i)
            text_bytes(printer->text, ", ", 2);
        print_attr_value(printer, &printer->module->attr_values.at[list->first + i]);
    }
    text_char(printer->text, ']');
    if (list->count == 0 && list->first) {
        text_char(printer->text, ':');
        spell_word(printer->text, printer->module, list->first);
    }
}

static void print_attr_value(struct printer *printer, const struct attr_value *value)
{
    struct text *text = printer->text;
    const struct module *module = printer->module;
    switch ((enum attr_kind)value->kind) {
    case ATTR_INT: text_signed(text, value->i); break;
    case ATTR_FLOAT: text_double(text, value->f); break;
    case ATTR_BOOL:
        if (value->i)
            text_bytes(text, "true", 4);
        else
            text_bytes(text, "false", 5);
        break;
    case ATTR_STRING: {
        const struct intern_name *name = &module->names.names[value->id];
        spell_quoted(text, name->text, name->size);
        break;
    }
    case ATTR_WORD: spell_word(text, module, value->id); break;
    case ATTR_SYMBOL: spell_symbol(text, module, value->id); break;
    case ATTR_VALUE: spell_value(text, module, value->id); break;
    case ATTR_TYPE:
        if (printer->type_places)
            print_type(printer, value->id);
        else
            spell_type(text, module, value->id);
        break;
    case ATTR_LIST: print_list(printer, value); break;
    case ATTR_DICT: print_dict(printer, (struct range){value->first, value->count}); break;
    }
}

void spell_attr(struct text *text, const struct module *module, const struct attr *attr)
{
    struct printer printer = {.text = text, .module = module};
    print_attr(&printer, attr);
}
