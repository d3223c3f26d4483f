"""run: kernels that overwrite all memory that their process shares with those above it: what they have
ended is an error with a report all the same, and nothing of what they wrote there is believed."""

import os
import sys

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from hostile import OWN, build, check

FILL = """
#include <stdio.h>
static void fill(int byte)
{
    char line[500];
    unsigned long low, high;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps))
        if (strstr(line, "rw-s") && sscanf(line, "%lx-%lx", &low, &high) == 2)
            memset((void *)low, byte, high - low);
    fclose(maps);
}
"""
for byte in "0", "1", "0xff":
    damaged = ["skirc: "] if byte == "0" else ["skirc: a kernel has overwritten memory that its process reports in"]
    for end in "syscall(SYS_exit_group, 0);", "kill(getpid(), SIGKILL);", "raise(SIGTERM);":
        check(f"a kernel that fills shared memory with {byte}, then does: {end}",
              build("filling", FILL + OWN % f"fill({byte}); {end}"), damaged, "--repeat=0", "--timeout=2")

# What is printed as JSON is JSON alone, whatever descriptors kernels write to.
done = tap.skirc("run", build("writing", OWN % 'for (int i = 3; i < 40; i++) write(i, "junk", 4);'), "-i", "x=1",
                 "--repeat=0", "--json")
tap.check("a kernel that writes to all descriptors spoils no JSON", done.stdout.startswith("{"), done.stdout[:200])

tap.done()
