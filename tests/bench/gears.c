/* Measures skrt_gears_find on tables of 1, 10 and 100 combinations (gears.py links them).
 *
 * gears times ROUNDS      a line "CASES NS" for each table and round, all tables in each round
 * gears count CASES N     N look-ups in one table, for a count of instructions */
#include "skrt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LOOKUPS = 1000000 };

extern const struct skrt_gears gears_1, gears_10, gears_100;
static const struct skrt_gears *const tables[] = {&gears_1, &gears_10, &gears_100};
enum { N_TABLES = sizeof tables / sizeof *tables };

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e9 + (double)time.tv_nsec;
}

/* Shapes in an order that no branch predictor knows, the same in every run. */
static void look_up(const struct skrt_gears *gears, uint64_t count)
{
    const struct skrt_gear_case *found = NULL;
    uint64_t random = 1;
    for (uint64_t i = 0; i < count; i++) {
        random = random * UINT64_C(6364136223846793005) + 1;
        uint32_t row = (uint32_t)((random >> 33) * gears->n_cases >> 31);
        found = skrt_gears_find(gears, gears->cases[row].shape);
        if (found != &gears->cases[row])
            abort();
    }
}

static void print_times(unsigned rounds)
{
    for (unsigned round = 0; round < rounds; round++)
        for (unsigned i = 0; i < N_TABLES; i++) {
            double begin = now();
            look_up(tables[i], LOOKUPS);
            printf("%u %.3f\n", tables[i]->n_cases, (now() - begin) / LOOKUPS);
        }
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "times") == 0) {
        print_times((unsigned)atoi(argv[2]));
        return 0;
    }
    for (unsigned i = 0; argc == 4 && i < N_TABLES; i++)
        if (tables[i]->n_cases == (uint32_t)atoi(argv[2]))
            look_up(tables[i], (uint64_t)atoll(argv[3]));
    return argc != 4;
}
