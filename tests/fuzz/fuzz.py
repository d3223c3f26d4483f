#!/usr/bin/env python3
"""Runs fuzz targets for some minutes, and says what of each source file they have reached.

usage: fuzz.py --source=DIR [--minutes=N] [--keep] PROGRAM...      (in the build folder; `make fuzz`)

With --keep, what was found and reaches more than what is in the sources already goes to
tests/fuzz/corpus there: a few small files for each target, which `make check` replays.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

# Folders of the sources or the build that a target begins with, besides its corpus.
TEXTS = ("tests/golden", "docs/examples")
SEEDS = {
    "fuzz_golden": TEXTS,
    "fuzz_import": ("tests/import", "tests/golden/export"),
    "fuzz_npy": (),
    "fuzz_object": ("backend/kernels",),
    "fuzz_op_data": ("ir/optypes/ops",),
    "fuzz_options": (),
    "fuzz_passes": TEXTS,
    "fuzz_proto_text": ("tests/import", "tests/golden/export"),
    "fuzz_skir": TEXTS,
}
# Objects are larger than texts.
MOST_INPUT = {"fuzz_object": 65536}
# Of what is kept for a target.
MOST_BYTES, MOST_FILE, MOST_FILES = 24 << 10, 2 << 10, 48


def tool(name):
    """A tool of LLVM, as the newest one is called."""
    if shutil.which(name):
        return name
    for version in range(30, 10, -1):
        if shutil.which(f"{name}-{version}"):
            return f"{name}-{version}"
    return None


def seeds(options, program):
    name = os.path.basename(program)
    folders = [os.path.join(options.source, "tests", "fuzz", "corpus", name)]
    for folder in SEEDS.get(name, ()):
        folders += [os.path.join(options.source, folder), folder]
    return [folder for folder in dict.fromkeys(folders) if os.path.isdir(folder)]


def is_fuzzer(program):
    """Else it has the main of replay.h."""
    done = subprocess.run([program, "-help=1"], capture_output=True, text=True)
    return "libFuzzer" in done.stdout + done.stderr


def replay(options, program):
    files = [os.path.join(folder, name) for top in seeds(options, program)
             for folder, _, names in os.walk(top) for name in names]
    print(f"{os.path.basename(program)}: {len(files)} files are replayed", flush=True)
    for i in range(0, len(files), 500):
        subprocess.run([program, *files[i:i + 500]], check=True, stdout=subprocess.DEVNULL)


def fuzz(options, program, seconds):
    """Whether nothing was found that is wrong."""
    name = os.path.basename(program)
    found = program + ".found"
    os.makedirs(found, exist_ok=True)
    environment = dict(os.environ, LLVM_PROFILE_FILE=program + ".profraw")
    done = subprocess.run(
        [program, f"-max_total_time={seconds}", "-timeout=20", "-rss_limit_mb=4096", 
         f"-max_len={MOST_INPUT.get(name, 20000)}",
         "-dict=tests/fuzz/fuzz.dict", f"-artifact_prefix={program}.", "-print_final_stats=1",
         found, *seeds(options, program)],
        env=environment, capture_output=True, text=True, errors="replace")
    executed = re.search(r"number_of_executed_units: *(\d+)", done.stderr)
    last = re.findall(r"#\d+\s.*cov: (\d+) ft: (\d+) corp: (\S+)", done.stderr)
    print(f"{name}: {executed.group(1) if executed else '?'} runs in {seconds} s; "
          f"edges, features, inputs: {' '.join(last[-1]) if last else '?'}", flush=True)
    if done.returncode != 0:
        print("\n".join(done.stderr.splitlines()[-60:]), flush=True)
    return done.returncode == 0


def coverage(options, programs):
    """Lines and branches of each file that any target has reached."""
    profdata, cov = tool("llvm-profdata"), tool("llvm-cov")
    profiles = [program + ".profraw" for program in programs if os.path.exists(program + ".profraw")]
    if not profdata or not cov or not profiles:
        print("no coverage: there is no llvm-cov, or no target has come to its end")
        return
    subprocess.run([profdata, "merge", "-sparse", *profiles, "-o", "tests/fuzz/all.profraw"],
                   check=True)
    objects = [argument for program in programs[1:] for argument in ("-object", program)]
    report = subprocess.run(
        [cov, "export", "-summary-only", "-instr-profile=tests/fuzz/all.profraw", programs[0],
         *objects], capture_output=True, text=True, check=True).stdout
    print("  lines  branches")
    for file in sorted(json.loads(report)["data"][0]["files"], key=lambda file: file["filename"]):
        name = os.path.relpath(file["filename"], os.path.realpath(options.source))
        lines, branches = file["summary"]["lines"], file["summary"]["branches"]
        if lines["covered"] and not name.startswith(("tests/", os.pardir)):
            print(f"{lines['percent']:6.1f} % {branches['percent']:6.1f} %  {name}")


def keep(options, program):
    """What reaches more than the seeds do, the smallest files first."""
    corpus = os.path.join(options.source, "tests", "fuzz", "corpus", os.path.basename(program))
    with tempfile.TemporaryDirectory() as all_of_them:
        for i, top in enumerate(seeds(options, program)):
            for folder, _, names in os.walk(top):
                for n, name in enumerate(names):
                    shutil.copy(os.path.join(folder, name), os.path.join(all_of_them, f"seed-{i}-{n}-{name}"))
        before = set(os.listdir(all_of_them))
        subprocess.run([program, "-merge=1", "-rss_limit_mb=4096", f"-max_len={MOST_FILE}", all_of_them,
                        program + ".found"], capture_output=True, check=True,
                       env=dict(os.environ, LLVM_PROFILE_FILE="/dev/null"))
        new = sorted(set(os.listdir(all_of_them)) - before,
                     key=lambda name: os.path.getsize(os.path.join(all_of_them, name)))
        size = 0
        for name in new[:MOST_FILES]:
            size += os.path.getsize(os.path.join(all_of_them, name))
            if size > MOST_BYTES:
                break
            os.makedirs(corpus, exist_ok=True)
            shutil.copy(os.path.join(all_of_them, name), os.path.join(corpus, name))
    print(f"{os.path.basename(program)}: {len(os.listdir(corpus)) if os.path.isdir(corpus) else 0} files")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--source", required=True)
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--keep", action="store_true")
    parser.add_argument("programs", nargs="+")
    options = parser.parse_args()
    programs = [os.path.join(".", program) for program in options.programs]
    if not is_fuzzer(programs[0]):
        for program in programs:
            replay(options, program)
        sys.exit("this build has no libFuzzer, so nothing new was tried: configure with --enable-fuzz CC=clang")
    with open("tests/fuzz/fuzz.dict", "w", encoding="utf-8") as file:
        subprocess.run(["tests/fuzz/dictionary"], stdout=file, check=True,
                       env=dict(os.environ, LLVM_PROFILE_FILE="/dev/null"))
    seconds = max(1, round(options.minutes * 60 / len(programs)))
    right = [fuzz(options, program, seconds) for program in programs]
    coverage(options, programs)
    if options.keep:
        for program in programs:
            keep(options, program)
    sys.exit(0 if all(right) else 1)


if __name__ == "__main__":
    main()
