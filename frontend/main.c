#include "frontend/command.h"

int main(int argc, char **argv)
{
    return skirc_main(argc, (const char *const *)argv, stdout, stderr);
}
