"""run: all that is asked for is written, or none of it: where one output cannot be had the others are as
they were, and the status is 1."""

import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from hostile import CC, OWN, build, write

with open(tap.SKIRC, "rb") as program:
    INSTRUMENTED = b"__asan_init" in program.read()

HARMLESS = build("harmless", OWN % "")


def read(path):
    with open(path, "rb") as file:
        return file.read()


def refuses(claim, message, *flags, path=HARMLESS, wrapper=(), absent=()):
    """Neither a file that was there, nor one that was not, is written."""
    write("old.npy", "old")
    done = subprocess.run([*wrapper, tap.SKIRC, "run", path, "-i", "x=1", "--repeat=0", "-oy=old.npy", *flags],
                          capture_output=True, text=True, timeout=120)
    left = [name for name in ("new.npy", *absent) if os.path.isfile(name)] + os.listdir("tmp")
    tap.check(claim, done.returncode == 1 and message in done.stderr and read("old.npy") == b"old" and not left,
              f"{done.returncode} {left} {done.stderr}")
    for name in ("new.npy", *absent):
        if os.path.isfile(name):
            os.unlink(name)
    return done


def sh(command):
    return "sh", "-c", command, "sh"


NEW = "-oz=new.npy"
FULL = "No space left on device"
done = refuses("a full device behind others", f"cannot write '/dev/full': {FULL}", NEW, "--json=/dev/full")
tap.check("  is told once", done.stderr.count("cannot write") == 1, done.stderr)
refuses("  as a result", f"cannot write '/dev/full': {FULL}", "-oz=/dev/full")
refuses("a full standard output", "cannot write the output", NEW, "--json=said.json", wrapper=sh('exec "$@" > /dev/full'))
tap.check("  of which JSON says it, too", json.loads(read("said.json"))["status"] == 1, read("said.json"))
refuses("a full standard output that gets JSON", f"cannot write the output: {FULL}", NEW, "--json",
        wrapper=sh('exec "$@" > /dev/full'))
for option in "trace", "profile", "remarks":
    done = refuses(f"--{option} to a full device", f"cannot write '/dev/full': {FULL}", NEW, "--json=said.json",
                   f"--{option}=/dev/full")
    tap.check("  of which JSON says it", json.loads(read("said.json"))["status"] == 1, read("said.json"))
    os.unlink("said.json")
    refuses(f"--{option} in a folder that is not there", "cannot write 'none/file': No such file", NEW,
            f"--{option}=none/file")
    refuses(f"a full device behind --{option}", f"cannot write '/dev/full': {FULL}", f"--{option}=told.json", NEW,
            "--json=/dev/full", absent=["told.json"])
for option in "trace", "profile", "remarks", "json":
    done = tap.skirc("run", HARMLESS, "-i", "x=1", f"--{option}=", NEW)
    tap.check(f"--{option} without a name is wrong usage", done.returncode == 2 and not os.path.exists("new.npy") and
              f"'--{option}=' needs the name of a file" in done.stderr and not done.stdout, done)
done = tap.skirc("run", HARMLESS, "-i", "x=1", "--repeat=0", NEW, *(f"--{option}={option}.json" for option in
                                                                    ("trace", "profile", "remarks", "json")))
tap.check("all of them are written", done.returncode == 0 and all(os.path.getsize(name) for name in (
    "trace.json", "profile.json", "remarks.json", "json.json", "new.npy")) and not os.listdir("tmp"), done)
os.unlink("new.npy")
os.mkfifo("pipe")
refuses("a pipe that nobody reads", "'pipe' is a pipe that nobody reads", NEW, "--json=pipe")
LONG = "n" * 256
done = refuses("a name that is too long", "File name too long", "-oz=" + LONG,
               path=build("saying", OWN % 'puts("it runs");'))
tap.check("  is found before the run", "it runs" not in done.stdout, done.stdout)
for place in "new.npy", "said.json":
    if os.path.exists("said.json"):
        os.unlink("said.json")
    refuses(f"a folder in the place of {place}", f"cannot write '{place}': Is a directory", NEW, "--json=said.json",
            path=build("placing", "#include <sys/stat.h>\n" + OWN % f'mkdir("{place}", 0777);'))
    os.rmdir(place)
os.mkdir("gone")
refuses("a folder that is gone", "cannot write 'gone/z.npy'", "-oz=gone/z.npy", "--json=said.json",
        path=build("removing", OWN % 'rmdir("gone");'))
tap.check("  of which JSON says it", json.loads(read("said.json"))["status"] == 1, read("said.json"))

# Each step by which files get their names may fail: what is printed, and what goes to pipes, comes behind them.
library = os.path.abspath("fail_at.so")
subprocess.run([*CC, "-O1", "-shared", "-fPIC", os.path.join(tap.SOURCE, "tests", "e2e", "fail_at.c"), "-o", library,
                "-ldl", "-pthread"], check=True)
if INSTRUMENTED:
    print("# a program with a sanitizer has no other library before that")
else:
    for n in range(1, 3):
        done = refuses(f"file {n} cannot get its name", "cannot write", NEW, "--json",
                       wrapper=("env", f"LD_PRELOAD={library}", f"SKIR_FAIL=rename:{n}",
                                "SKIR_FAIL_IN=" + os.path.basename(tap.SKIRC)))
        told = json.loads(done.stdout or "{}")
        tap.check("  what is printed says so", told.get("status") == 1 and "cannot write" in told.get("failure", ""), done.stdout)

# What is found wrong with results does not keep them from who wants to see them.
done = tap.skirc("run", HARMLESS, "-i", "x=1", "--repeat=0", NEW, "--expect", "z=5")
tap.check("results that are not as expected are written", done.returncode == 1 and os.path.exists("new.npy"), done.stderr)
os.unlink("new.npy")

# Links, devices and old files along with new ones.
write("target", "old")
os.symlink("target", "link")
done = tap.skirc("run", HARMLESS, "-i", "x=1", "--repeat=0", "-oy=link", NEW, "--json=/dev/null")
tap.check("what a link leads to is replaced, with others", done.returncode == 0 and os.path.islink("link")
          and read("target") == read("new.npy") and not os.listdir("tmp"), done.stderr)
done = subprocess.run([tap.SKIRC, "run", HARMLESS, "-i", "x=1", "--repeat=0", "-oz=/dev/stdout"], capture_output=True)
tap.check("standard output by its name", done.returncode == 0 and done.stdout.endswith(read("new.npy")), done.stderr)

# Without a process apart, who finds something leaves nothing, either.
BEGIN = "#include <unistd.h>\n__attribute__((constructor)) static void begin(void) { %s }\n"
for claim, code, message in (("a folder", 'chdir("/");', "has changed the folder of its process"),
                             ("a process", "if (fork() == 0) { close(1); close(2); sleep(40); _exit(0); }",
                              "has left a process running")):
    path = build("beginning_" + claim[2:], BEGIN % code + OWN % "")
    done = subprocess.run([tap.SKIRC, "run", path, "-i", "x=1", "--in-process"], capture_output=True, text=True,
                          timeout=30)
    tap.check(f"--in-process: a constructor that leaves {claim}", done.returncode == 1 and message in done.stderr
              and not os.listdir("tmp"), f"{done.returncode} {done.stderr} {os.listdir('tmp')}")

tap.done()
