"""run: each output is written whole or not at all; one that cannot be written is an error of which
--json says so."""

import json
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from hostile import OWN, build, write

HARMLESS = build("harmless", OWN % "")


def read(path):
    with open(path, "rb") as file:
        return file.read()


def refuses(claim, message, *flags, path=HARMLESS, wrapper=()):
    """Nothing is left of an output that cannot be written."""
    done = subprocess.run([*wrapper, tap.SKIRC, "run", path, "-i", "x=1", "--repeat=0", *flags],
                          capture_output=True, text=True, timeout=120)
    tap.check(claim, done.returncode == 1 and message in done.stderr and not os.listdir("tmp"),
              f"{done.returncode} {os.listdir('tmp')} {done.stderr}")
    return done


def sh(command):
    return "sh", "-c", command, "sh"


FULL = "cannot write '/dev/full': No space left on device"
for option in "-oz=/dev/full", "--trace=/dev/full", "--profile=/dev/full":
    refuses(f"{option} is full", FULL, option, "--json=said.json")
    tap.check("  of which JSON says it", json.loads(read("said.json"))["status"] == 1, read("said.json"))
    os.unlink("said.json")
refuses("remarks to a full device", FULL, "--remarks=/dev/full")
done = refuses("JSON to a full device", FULL, "--json=/dev/full")
tap.check("  is reported once", done.stderr.count("cannot write") == 1, done.stderr)
refuses("a full standard output", "cannot write the output", wrapper=sh('exec "$@" > /dev/full'))
refuses("a full standard output that gets JSON", "cannot write the output", "--json", wrapper=sh('exec "$@" > /dev/full'))
done = refuses("an output after one that cannot be written", FULL, "-oy=/dev/full", "-oz=new.npy")
tap.check("  is not written", not os.path.exists("new.npy"), done.stderr)

# Before the run.
SAYING = build("saying", OWN % 'puts("it runs");')
for option in "trace", "profile", "remarks", "json":
    done = refuses(f"--{option} in a folder that does not exist", "cannot write 'none/file': No such file",
                   f"--{option}=none/file", path=SAYING)
    tap.check("  is found before the run", "it runs" not in done.stdout, done.stdout)
    done = tap.skirc("run", HARMLESS, "-i", "x=1", f"--{option}=", "-oz=new.npy")
    tap.check(f"--{option} without a name is wrong usage", done.returncode == 2 and not os.path.exists("new.npy") and
              f"'--{option}=' needs the name of a file" in done.stderr and not done.stdout, done)
done = refuses("a name that is too long", "File name too long", "-oz=" + "n" * 256, path=SAYING)
tap.check("  is found before the run", "it runs" not in done.stdout, done.stdout)

done = tap.skirc("run", HARMLESS, "-i", "x=1", "--repeat=0", "-oz=new.npy",
                 *(f"--{option}={option}.json" for option in ("trace", "profile", "remarks", "json")))
tap.check("all of them are written", done.returncode == 0 and all(os.path.getsize(name) for name in (
    "trace.json", "profile.json", "remarks.json", "json.json", "new.npy")) and not os.listdir("tmp"), done)
os.unlink("new.npy")
done = tap.skirc("run", HARMLESS, "-i", "x=1", "--repeat=0", "-oz=new.npy", "--expect", "z=5")
tap.check("results that are not as expected are written", done.returncode == 1 and os.path.exists("new.npy"), done.stderr)

# Links and devices.
write("target", "old")
os.symlink("target", "link")
done = tap.skirc("run", HARMLESS, "-i", "x=1", "--repeat=0", "-oz=link", "--json=/dev/null")
tap.check("what a link leads to is replaced", done.returncode == 0 and os.path.islink("link")
          and read("target") == read("new.npy"), done.stderr)
done = subprocess.run([tap.SKIRC, "run", HARMLESS, "-i", "x=1", "--repeat=0", "-oz=/dev/stdout"], capture_output=True)
tap.check("standard output by its name", done.returncode == 0 and read("new.npy") in done.stdout, done.stderr)

tap.done()
