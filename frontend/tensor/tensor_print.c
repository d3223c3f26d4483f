#include "frontend/tensor/tensor_print.h"
#include "frontend/tensor/number.h"

#include <math.h>
#include <string.h>

enum { INDENT = 2, NUMBER_SIZE = 80 };

/* -------------------------------------------------------------------------- summary ---- */

static void add_element(struct summary *summary, const struct numbers *numbers, uint64_t index)
{
    bool is_nan = false, is_infinite = false;
    long double parts[2] = {0, 0};
    for (unsigned i = 0; i < numbers->parts; i++) {
        parts[i] = number_at(numbers, index, i);
        is_nan = is_nan || isnan(parts[i]);
        is_infinite = is_infinite || isinf(parts[i]);
    }
    summary->nans += is_nan;
    summary->infinities += is_infinite && !is_nan;
    if (is_nan || is_infinite)
        return;
    if (summary->count == 0 || parts[0] < summary->low)
        summary->low = parts[0];
    if (summary->count == 0 || parts[0] > summary->high)
        summary->high = parts[0];
    summary->count++;
    summary->sum[0] += (double)parts[0];
    summary->sum[1] += (double)parts[1];
}

bool tensor_summarise(const struct tensor *tensor, struct summary *summary)
{
    struct numbers numbers;
    *summary = (struct summary){.count = 0};
    if (!numbers_of(tensor, &numbers))
        return false;
    for (uint64_t i = 0; i < tensor_elements(tensor); i++)
        add_element(summary, &numbers, i);
    return true;
}

static void print_number(struct text *text, const struct numbers *numbers, long double number)
{
    if (numbers->is_float)
        text_printf(text, "%.6Lg", number);
    else
        text_printf(text, "%.0Lf", number);
}

static void print_means(struct text *text, const struct numbers *numbers,
                        const struct summary *summary)
{
    double count = (double)summary->count;
    if (numbers->parts == 2)
        text_printf(text, "  mean (%.6g, %.6g)", summary->sum[0] / count, summary->sum[1] / count);
    else
        text_printf(text, "  mean %.6g", summary->sum[0] / count);
}

void tensor_print_summary(const struct tensor *tensor, struct text *text)
{
    struct numbers numbers;
    struct summary summary;
    if (!numbers_of(tensor, &numbers) || !tensor_summarise(tensor, &summary))
        return;
    if (summary.count && numbers.parts == 1) {
        text_printf(text, "  min ");
        print_number(text, &numbers, summary.low);
        text_printf(text, "  max ");
        print_number(text, &numbers, summary.high);
    }
    if (summary.count)
        print_means(text, &numbers, &summary);
    if (numbers.is_float)
        text_printf(text, "  nan %llu  inf %llu", (unsigned long long)summary.nans,
                    (unsigned long long)summary.infinities);
}

/* ------------------------------------------------------------------------- elements ---- */

struct printing {
    const struct tensor *tensor;
    struct numbers numbers;
    bool has_numbers;
    struct text *text;
    unsigned width; /* of an element; 0: being found */
};

static void element_text(const struct printing *printing, uint64_t index, char text[NUMBER_SIZE])
{
    const struct numbers *numbers = &printing->numbers;
    if (!printing->has_numbers || !numbers->is_float)
        tensor_element_text(printing->tensor, index, text, NUMBER_SIZE);
    else if (numbers->parts == 1)
        snprintf(text, NUMBER_SIZE, "%.6Lg", number_at(numbers, index, 0));
    else
        snprintf(text, NUMBER_SIZE, "(%.6Lg, %.6Lg)", number_at(numbers, index, 0),
                 number_at(numbers, index, 1));
}

/* How many of a dimension's elements are shown at each end; 0: all are. */
static int64_t shown(const struct tensor *tensor, uint32_t axis)
{
    bool inner = axis + 2 >= tensor->rank;
    return tensor->dims[axis] <= (inner ? 8 : 2) ? 0 : inner ? 3 : 1;
}

/* The index behind `i` that is shown; `*gap` where some in between are not. */
static int64_t next_shown(const struct tensor *tensor, uint32_t axis, int64_t i, bool *gap)
{
    int64_t ends = shown(tensor, axis);
    *gap = ends > 0 && i + 1 == ends;
    return *gap ? tensor->dims[axis] - ends : i + 1;
}

static void measure(struct printing *printing, uint32_t axis, uint64_t index)
{
    const struct tensor *tensor = printing->tensor;
    char text[NUMBER_SIZE];
    bool gap;
    if (axis == tensor->rank) {
        element_text(printing, index, text);
        unsigned size = (unsigned)strlen(text);
        printing->width = size > printing->width ? size : printing->width;
        return;
    }
    for (int64_t i = 0; i < tensor->dims[axis]; i = next_shown(tensor, axis, i, &gap))
        measure(printing, axis + 1, index * (uint64_t)tensor->dims[axis] + (uint64_t)i);
}

/* Before an element that is not the first: NumPy leaves one blank line less than the dimensions
 * that end there. */
static void separate(struct printing *printing, uint32_t axis)
{
    uint32_t rank = printing->tensor->rank;
    if (axis + 1 == rank) {
        text_char(printing->text, ' ');
        return;
    }
    for (uint32_t i = axis + 1; i < rank; i++)
        text_char(printing->text, '\n');
    text_printf(printing->text, "%*s", (int)(INDENT + axis + 1), "");
}

static void print_axis(struct printing *printing, uint32_t axis, uint64_t index)
{
    const struct tensor *tensor = printing->tensor;
    char text[NUMBER_SIZE];
    bool gap;
    if (axis == tensor->rank) {
        element_text(printing, index, text);
        text_printf(printing->text, "%*s", (int)printing->width, text);
        return;
    }
    text_char(printing->text, '[');
    for (int64_t i = 0; i < tensor->dims[axis];) {
        print_axis(printing, axis + 1, index * (uint64_t)tensor->dims[axis] + (uint64_t)i);
        i = next_shown(tensor, axis, i, &gap);
        if (gap) {
            separate(printing, axis);
            text_printf(printing->text, "...");
        }
        if (i < tensor->dims[axis])
            separate(printing, axis);
    }
    text_char(printing->text, ']');
}

void tensor_print_elements(const struct tensor *tensor, struct text *text)
{
    struct printing printing = {.tensor = tensor, .text = text};
    printing.has_numbers = numbers_of(tensor, &printing.numbers);
    measure(&printing, 0, 0);
    text_printf(text, "%*s", INDENT, "");
    print_axis(&printing, 0, 0);
    text_char(text, '\n');
}
