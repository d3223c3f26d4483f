#include "frontend/exchange/dump/gear_texts.h"
#include "ir/base/message.h"
#include "ir/gears.h"

#include <string.h>

/* So that nothing takes long, whatever the text. */
enum { MAX_INPUTS = 10000, MAX_COLUMNS = 1000 };

struct gear_reader {
    struct gear_texts *texts;
    char *error;
    size_t error_size;
};

/* ------------------------------------------------------------------------------ parts ---- */

static struct gear_text trim(struct gear_text text)
{
    while (text.size && *text.at == ' ') {
        text.at++;
        text.size--;
    }
    while (text.size && text.at[text.size - 1] == ' ')
        text.size--;
    return text;
}

/* The part up to a sign, or the end, which the text then begins behind. */
static bool next_part(struct gear_text *text, char sign, struct gear_text *part)
{
    if (!text->at)
        return false;
    const char *end = memchr(text->at, sign, text->size);
    size_t size = end ? (size_t)(end - text->at) : text->size;
    *part = trim((struct gear_text){text->at, size});
    *text = end ? (struct gear_text){end + 1, text->size - size - 1} : (struct gear_text){NULL, 0};
    return true;
}

/* A whole number of up to 18 digits, or -1. */
static bool read_number(struct gear_text text, int64_t *number)
{
    bool negative = text.size && *text.at == '-';
    size_t digits = text.size - negative;
    *number = 0;
    for (size_t i = negative; i < text.size; i++) {
        if (text.at[i] < '0' || text.at[i] > '9')
            return false;
        *number = digits <= 18 ? *number * 10 + (text.at[i] - '0') : 0;
    }
    *number = negative ? -*number : *number;
    return digits > 0 && digits <= 18 && *number >= -1;
}

static bool fail_part(const struct gear_reader *reader, struct gear_text part, const char *what)
{
    return message_fail(reader->error, reader->error_size, "'%.*s' %s", (int)part.size, part.at,
                        what);
}

/* ------------------------------------------------------------------------------ inputs ---- */

static bool read_dims(const struct gear_reader *reader, struct gear_text whole,
                      struct gear_text dims, struct gear_input *input)
{
    struct gear_text part;
    if (trim(dims).size == 0)
        return true;
    while (next_part(&dims, ',', &part)) {
        if (input->rank == MAX_RANK)
            return fail_part(reader, whole, "has too many dimensions");
        if (!read_number(part, &input->dims[input->rank]))
            return fail_part(reader, whole, "is no NAME:N,N,... of whole numbers and -1");
        reader->texts->n_columns += input->dims[input->rank++] < 0;
        if (reader->texts->n_columns > MAX_COLUMNS)
            return message_fail(reader->error, reader->error_size,
                                "more than %d dimensions of inputs are -1", MAX_COLUMNS);
    }
    return true;
}

static bool is_given(const struct gear_texts *texts, const struct gear_input *input)
{
    for (uint32_t i = 0; i < texts->inputs.count; i++)
        if (texts->inputs.at[i].size == input->size &&
            memcmp(texts->inputs.at[i].name, input->name, input->size) == 0)
            return true;
    return false;
}

/* A name may have colons, too. */
static bool read_input(const struct gear_reader *reader, struct gear_text part)
{
    size_t size = part.size;
    while (size > 0 && part.at[size - 1] != ':')
        size--;
    if (size < 2)
        return fail_part(reader, part, "is no NAME:N,N,... of whole numbers and -1");
    struct gear_text name = trim((struct gear_text){part.at, size - 1});
    struct gear_input input = {.name = name.at, .size = name.size};
    if (is_given(reader->texts, &input))
        return fail_part(reader, name, "stands twice");
    if (!read_dims(reader, part, (struct gear_text){part.at + size, part.size - size}, &input))
        return false;
    vec_push(&reader->texts->inputs, input);
    return true;
}

bool gear_texts_read_inputs(struct gear_texts *texts, struct gear_text text, char *error,
                            size_t error_size)
{
    const struct gear_reader reader = {texts, error, error_size};
    struct gear_text part;
    if (trim(text).size == 0)
        return message_fail(error, error_size, "it is empty");
    while (next_part(&text, ';', &part)) {
        if (texts->inputs.count == MAX_INPUTS)
            return message_fail(error, error_size, "it has more than %d inputs", MAX_INPUTS);
        if (!read_input(&reader, part))
            return false;
    }
    return true;
}

/* -------------------------------------------------------------------------------- rows ---- */

static bool is_repeated(const struct gear_texts *texts)
{
    size_t n = texts->n_columns;
    const int64_t *row = texts->values.at + texts->n_rows * n;
    for (uint32_t i = 0; i < texts->n_rows; i++)
        if (memcmp(texts->values.at + i * n, row, n * sizeof *row) == 0)
            return true;
    return false;
}

static bool read_row(const struct gear_reader *reader, struct gear_text whole)
{
    struct gear_texts *texts = reader->texts;
    struct gear_text rest = whole, part;
    uint32_t count = 0;
    int64_t number;
    for (; next_part(&rest, ',', &part); count++) {
        if (!read_number(part, &number) || number < 0)
            return fail_part(reader, whole, "is no list of whole numbers");
        if (number < 2)
            return fail_part(reader, whole, "has a value below 2, which gears cannot have");
        if (count < texts->n_columns)
            vec_push(&texts->values, number);
    }
    if (count != texts->n_columns)
        return message_fail(reader->error, reader->error_size,
                            "'%.*s' has %u number%s, but %u dimension%s -1", (int)whole.size,
                            whole.at, count, count == 1 ? "" : "s", texts->n_columns,
                            texts->n_columns == 1 ? " of inputs is" : "s of inputs are");
    if (is_repeated(texts))
        return fail_part(reader, whole, "stands twice");
    texts->n_rows++;
    return true;
}

bool gear_texts_read_rows(struct gear_texts *texts, struct gear_text text, char *error,
                          size_t error_size)
{
    const struct gear_reader reader = {texts, error, error_size};
    struct gear_text part;
    if (trim(text).size == 0)
        return message_fail(error, error_size, "it is empty");
    if (texts->n_columns == 0)
        return message_fail(error, error_size, "no dimension of an input is -1");
    while (next_part(&text, ';', &part)) {
        if (texts->n_rows == GEARS_MAX_ROWS)
            return message_fail(error, error_size, "it has more than %d combinations",
                                GEARS_MAX_ROWS);
        if (!read_row(&reader, part))
            return false;
    }
    return texts->n_rows >= 2 ||
           message_fail(error, error_size, "it has fewer than two combinations");
}

void gear_texts_free(struct gear_texts *texts)
{
    vec_free(&texts->inputs);
    vec_free(&texts->values);
}
