"""run: kernels that overwrite all memory that their process shares with those above it: what they have
ended is an error with a report all the same, and nothing of what they wrote there is believed."""

import os
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from hostile import OWN, build, check, check_harmless, processes, run

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

# What they say there of when they are to end is not believed for longer than --timeout allows: here
# nobody tells of the end, since the first thread stays in a handler.
for byte in "1", "0x7f", "0xff":
    check(f"a kernel that fills shared memory with {byte}, and does not return", build("staying", FILL + """
static void stay(int unused) { for (;;) ; }
""" + OWN % f"fill({byte}); signal(SIGUSR1, stay); syscall(SYS_tgkill, getpid(), getpid(), SIGUSR1); for (;;) ;"),
          ["skirc: timeout|skirc: a kernel has overwritten memory that its process reports in"],
          "--repeat=0", "--timeout=1")

done, _ = run(build("filled", FILL + OWN % "fill(0xff);"), "--repeat=0")
tap.check("nothing untrue is said of files where shared memory was overwritten", done.returncode == 1
          and "skirc: a kernel has overwritten memory that its process reports in" in done.stderr
          and "cannot" not in done.stderr, done.stderr)

# Which processes are ended is not taken from there.
victim = subprocess.Popen(["sleep", "100"], start_new_session=True, env={})
REPLACE = """
#include <stdio.h>
static void replace(int victim)
{
    char line[500];
    unsigned long low, high;
    int self = getpid(), parent = getppid();
    FILE *maps = fopen("/proc/self/maps", "r");
    while (fgets(line, sizeof line, maps))
        if (strstr(line, "rw-s") && sscanf(line, "%lx-%lx", &low, &high) == 2)
            for (int *at = (int *)low; at < (int *)high; at++)
                if (*at == self || *at == parent)
                    *at = victim;
    fclose(maps);
}
"""
for end in "", "exit(0);", "for (;;) pause();":
    check(f"a kernel that puts another process in the place of its own {end}",
          build("victim", REPLACE + OWN % f"replace({victim.pid}); {end} *(volatile int *)8 = 1;"), ["skirc: "],
          "--timeout=1", "--repeat=0")
    tap.check("  ends the other one not", victim.poll() is None, victim.returncode)
path = build("victim", REPLACE + OWN % f'replace({victim.pid}); fclose(fopen("replaced", "w")); for (;;) pause();')
process = subprocess.Popen([tap.SKIRC, "run", path, "-i", "x=1"], stderr=subprocess.DEVNULL)
while not os.path.exists("replaced") and process.poll() is None:
    time.sleep(0.01)
process.terminate()
status = process.wait(60)
tap.check("  nor does who ends skirc meanwhile", status == -signal.SIGTERM and victim.poll() is None and not processes(),
          f"{status} {victim.returncode} {processes()}")
victim.kill()
victim.wait()

# What is printed as JSON is JSON alone, whatever descriptors kernels write to.
done = tap.skirc("run", build("writing", OWN % 'for (int i = 3; i < 40; i++) write(i, "junk", 4);'), "-i", "x=1",
                 "--repeat=0", "--json")
tap.check("a kernel that writes to all descriptors spoils no JSON", done.stdout.startswith("{"), done.stdout[:200])
check_harmless("a kernel that writes to all descriptors of the process above", build("above", """
#include <fcntl.h>
#include <stdio.h>
""" + OWN % """for (int i = 3; i < 40; i++) {
            char path[64];
            sprintf(path, "/proc/%d/fd/%d", getppid(), i);
            int file = open(path, O_WRONLY | O_NONBLOCK);
            write(file, "junk!", 5), close(file);
        }"""), "--repeat=0")
done = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", tap.SKIRC, "run", build("plain", OWN % ""), "-i", "x=1",
                       "--repeat=0", "--json"], capture_output=True, text=True)
tap.check("where standard output is closed, that is what is told", done.returncode == 1 and
          "skirc: cannot write the output" in done.stderr and "cannot note" not in done.stderr, done)

tap.done()
