#include "frontend/commands/nearest.h"

const char *nearest_text(struct arena *arena, const int64_t *numbers, uint32_t count,
                         int64_t number)
{
    int64_t below = INT64_MIN, above = INT64_MAX;
    for (uint32_t i = 0; i < count; i++) {
        if (numbers[i] < number && numbers[i] > below)
            below = numbers[i];
        if (numbers[i] > number && numbers[i] < above)
            above = numbers[i];
    }
    if (below != INT64_MIN && above != INT64_MAX)
        return arena_printf(arena, "the nearest values are %lld and %lld", (long long)below,
                            (long long)above);
    return arena_printf(arena, "the nearest value is %lld",
                        (long long)(below != INT64_MIN ? below : above));
}
