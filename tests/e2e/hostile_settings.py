"""run: kernels that change what belongs to their process as a whole: where and how files are written
behind them. Results are not written where they are, and elsewhere neither."""

import json
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from hostile import CALL, OWN, build, check, check_harmless, run

HEAD = "#include <sys/resource.h>\n#include <sys/stat.h>\n"
# A hard limit that is lowered stays so: the search for the op finds nothing that changes.
WHO = "skirc: (the kernel of Own %y|a kernel) has changed the "
os.mkdir("other")
LIMIT = "struct rlimit l = {%s, %s}; setrlimit(%s, &l);"
for body, what in (('chdir("/");', "folder of its process"), ('chdir("other");', "folder of its process"),
                   ("umask(0777);", "mode of new files"),
                   (LIMIT % (0, 0, "RLIMIT_FSIZE"), "limit RLIMIT_FSIZE of its process"),
                   (LIMIT % (3, 1000, "RLIMIT_NOFILE"), "limit RLIMIT_NOFILE of its process"),
                   (LIMIT % (3, 3, "RLIMIT_NOFILE"), "limit RLIMIT_NOFILE of its process"),
                   (LIMIT % (100, 100, "RLIMIT_CPU"), "limit RLIMIT_CPU of its process")):
    check(f"a kernel that does: {body}", build("changing", HEAD + OWN % body), [WHO + what, "Own %y"])
ONE = "cpu_set_t s; CPU_ZERO(&s); CPU_SET(sched_getcpu(), &s); sched_setaffinity(%s, sizeof s, &s);"
for body, what in (("nice(3);", r"priority of a thread \(nice\)"),
                   ("struct sched_param p = {0}; sched_setscheduler(0, SCHED_BATCH, &p);", "how a thread is scheduled"),
                   (ONE % "0", r"processors of a thread \(sched_setaffinity\)"),
                   (ONE % "getpid()", r"processors of a thread \(sched_setaffinity\)")):
    if "SET" not in body or len(os.sched_getaffinity(0)) > 1:
        check(f"a kernel that does: {body}", build("scheduling", "#include <sched.h>\n" + HEAD + OWN % body),
              ["skirc: (the kernel of Own %y|a kernel) has changed (the )?" + what, "Own %y"])
check("a kernel that changes the flags of a stream", build("flags", HEAD + "#include <fcntl.h>\n" +
      OWN % "fcntl(1, F_SETFL, O_NONBLOCK);"), [WHO + "flags of a standard stream", "Own %y"])
check("a kernel that leaves files open", build("files", HEAD + "#include <fcntl.h>\n" + OWN % (
    "while (dup(0) >= 0);")), ["skirc: the kernel of Own %y has left so many files open"])
if os.geteuid() == 0:
    check("a kernel that is of another user", build("user", HEAD + OWN % "setuid(65534);"),
          [WHO + "user of its process", "Own %y"])
    check("a constructor that takes the right to files", build("rights", HEAD + """
#include <sys/fsuid.h>
__attribute__((constructor)) static void give_up(void) { setfsuid(65534); }
""" + OWN % ""), ["skirc: a constructor of 'rights.o'.* has changed the rights of its process"])
check("a constructor that gives up privileges", build("privileges", HEAD + """
#include <sys/prctl.h>
__attribute__((constructor)) static void give_up(void) { prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0); }
""" + OWN % ""), ["skirc: a constructor of 'privileges.o'.* has changed the rights of its process"])
# Links that lead elsewhere: an output would replace what is there.
for flag, place in ("-oz=z.npy", "z.npy"), ("--json=said", "said"), ("-oz=linked/z.npy", "linked/z.npy"):
    os.mkdir("plain")
    os.symlink("plain", "linked")
    with open("precious", "w") as file:
        file.write("precious")
    body = ('unlink("linked"), symlink("other", "linked");' if "/" in place else
            f'symlink("precious", "{place}");')
    for end in "", "*(volatile int *)8 = 1;":
        done = tap.skirc("run", build("linking", HEAD + OWN % (body + end)), "-i", "x=1", flag, "--repeat=0")
        with open("precious") as file:
            same = file.read() == "precious" and not os.listdir("other") and not os.listdir("plain")
        tap.check(f"a kernel that makes {place} lead elsewhere {end}", done.returncode == 1 and same and
                  (end or f"cannot write '{place}': it leads elsewhere than before" in done.stderr),
                  done.stderr)
        for name in place, "linked":
            if os.path.islink(name):
                os.unlink(name)
        os.symlink("plain", "linked")
    os.unlink("linked")
    os.rmdir("plain")
done = tap.skirc("run", build("linked", HEAD + OWN % 'link("precious", "z.npy");'), "-i", "x=1", "-oz=z.npy")
with open("precious") as file:
    tap.check("a further name of a file is not followed", done.returncode == 0 and
              file.read() == "precious", done.stderr)
os.unlink("z.npy")
tap.check("nothing is written elsewhere", not os.listdir("other"), os.listdir("other"))

# What a thread computes with is every call's to leave as it was: what comes behind it on the thread
# would compute otherwise.
FLOATS = ["skirc: a kernel has changed how its thread computes", CALL]
bodies = ["fesetround(FE_TOWARDZERO);", "feenableexcept(FE_DIVBYZERO);"]
if os.uname().machine == "x86_64":
    bodies += ["__builtin_ia32_ldmxcsr(__builtin_ia32_stmxcsr() | 0x8040);",
               '__asm__ volatile("fld1");', '__asm__ volatile("std");']
for body in bodies:
    check(f"a kernel that does: {body}", build("floats", "#include <fenv.h>\n" + OWN % body), FLOATS)
check_harmless("a kernel that sets that back", build("floats_back", "#include <fenv.h>\n" + OWN % (
    "fesetround(FE_UPWARD); volatile float a = 1; a /= 3; fesetround(FE_TONEAREST);")))

# What shows in one run alone has no op; all that could have done it are told.
check("a kernel that does it in one run alone", build("once", HEAD + """
static int runs;
""" + OWN % 'if (++runs == 3) chdir("/");'),
      ["skirc: a kernel has changed the folder", "it is one of Own %y, Relu %z"], "--repeat=5")
for kind in "constructor", "destructor":
    for name, body, what in (
            ("folder", 'chdir("/");', "changed the folder of its process"),
            ("mode", "umask(0777);", "changed the mode of new files"),
            ("limit", LIMIT % (0, 0, "RLIMIT_FSIZE"), "changed the limit RLIMIT_FSIZE"),
            ("streams", "close(1), close(2);", "closed standard output"),
            ("process", "if (fork() == 0) { alarm(60); for (;;) pause(); }", "left a process running"),
            ("thread", "pthread_t t; pthread_create(&t, 0, rest, 0);", "left a thread running")):
        if (kind, name) == ("destructor", "thread"):
            continue  # its code is gone at once, so that the process may have ended by that
        check(f"a {kind} that does: {body}", build(f"{kind}_{name}", HEAD + """
static void *rest(void *unused) { for (;;) usleep(1000); }
""" + f"__attribute__(({kind})) static void beside(void) {{ {body} }}" + OWN % ""),
              [rf"skirc: a {kind} of '{kind}_{name}\.o'.* has {what}"])
for kind in "constructor", "destructor":
    path = build(f"{kind}_floats", "#include <fenv.h>\n" + (OWN % "").replace("y[i] = 1;", "y[i] = 1 / 3.f;") +
                 f"__attribute__(({kind})) static void beside(void) {{ fesetround(FE_UPWARD); }}")
    done, _ = run(path, "--repeat=0", "--print=y")
    tap.check(f"numbers are printed as ever where a {kind} does: fesetround(FE_UPWARD)",
              done.returncode == 0 and "0.333333 0.333333" in done.stdout and "0.333334" not in done.stdout, done)
    os.unlink("new.npy")

# ---- What skirc has of its own: where its tools and temporary files are, how numbers are written ----

for body in 'setenv("TMPDIR", "/nowhere", 1);', 'setenv("PATH", "/nowhere", 1); clearenv();', (
        'strcpy(getenv("TMPDIR"), "/n");'):
    check_harmless(f"a constructor that does: {body}", build("environment", (
        "__attribute__((constructor)) static void beside(void) { %s }" % body) + OWN % ""), "--compare=unfused")
check_harmless("a kernel finds what it has set", build("set", """
__attribute__((constructor)) static void beside(void) { setenv("OF_THIS", "kernel", 1); }
""" + OWN % 'if (strcmp(getenv("OF_THIS"), "kernel") != 0) abort(); setenv("TMPDIR", "/nowhere", 1);'),
               "--compare=unfused")

# A locale with a decimal comma; warnings are about what it does not define.
with open("comma.src", "w") as file:
    file.write('LC_NUMERIC\ndecimal_point ","\nthousands_sep ""\ngrouping -1\nEND LC_NUMERIC\n')
try:
    subprocess.run(["localedef", "-c", "-i", "comma.src", "./comma"], stdin=subprocess.DEVNULL,
                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
except OSError:
    pass
os.environ["LOCPATH"] = os.getcwd()
COMMA = 'setlocale(LC_ALL, "comma");'
NUMBERS = "#include <locale.h>\n#include <stdio.h>\n"
if os.path.isdir("comma"):
    for who, path in (
            ("kernel", build("commas", NUMBERS + (OWN % COMMA).replace("= 1;", "= 1.5;"))),
            ("constructor", build("constructed", NUMBERS + (
                f"__attribute__((constructor)) static void beside(void) {{ {COMMA} }}" + OWN % (
                    'char text[9]; sprintf(text, "%.1f", 2.5); if (strcmp(text, "2,5") != 0) abort();')
            ).replace("= 1;", "= 1.5;")))):
        done, _ = run(path, "--json=run.json", "--print=y", "--repeat=2")
        with open("run.json") as file:
            try:
                values = {value["name"]: value["max"] for value in json.load(file)["values"]}
            except ValueError as error:
                values = error
        tap.check(f"numbers have points where a {who} sets a locale with commas", done.returncode == 0
                  and "[1.5 1.5 1.5 1.5]" in done.stdout and not re.search(r"\d,\d", done.stdout)
                  and values == {"%y": 1.5}, f"{done}, {values}")
        if os.path.exists("new.npy"):
            os.unlink("new.npy")
else:
    tap.skip("numbers have points where a kernel sets a locale with commas", "localedef makes none")
del os.environ["LOCPATH"]

path = build("trace", HEAD + OWN % 'chdir("other"); for (;;) pause();')
done, _ = run(path, "--trace=trace.bin", "--timeout=1")
tap.check("a trace of a launch that hangs is where it is asked for", done.returncode == 1
          and os.path.exists("trace.bin") and not os.listdir("other"), done.stderr)

tap.done()
