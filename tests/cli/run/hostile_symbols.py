"""run: what kernels' objects define is for these objects alone: functions with the names of the C library, of the
runtime and of skirc itself are called by nobody else."""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from hostile import OWN, build

# The kernel itself calls none of them.
NAMES = """memset memcmp memmove strlen malloc calloc realloc free mmap munmap mprotect read pread write pwrite open
close fstat stat rename unlink fork waitpid kill _exit exit abort atexit getpid getppid clock_gettime nanosleep poll
fopen fclose fwrite fread fputs fputc fflush fprintf printf puts snprintf vsnprintf setvbuf getenv environ
pthread_create pthread_join pthread_mutex_lock pthread_mutex_unlock pthread_cond_wait pthread_sigmask sigaction signal
dlopen dlsym syscall main _start _init _fini __libc_start_main __cxa_finalize __cxa_atexit
skrt_call skrt_await skrt_notify skrt_wait skrt_run_rows skrt_launch skrt_launch_all skrt_device_open skrt_crash_text
skrt_site_text cmd_run child_run child_leave cleanup_run mem_alloc file_out_open relu Relu""".split()
KINDS = {
    "global": ".globl %s",
    "weak": ".weak %s",
    "protected": ".globl %s\\n.protected %s",
}


def imposters(kind):
    """Each name is a label of a function that ends the process."""
    lines = []
    for name in NAMES:
        lines.append(KINDS[kind].replace("%s", name))
        lines.append(f"{name}:")
    return '__asm__(".text\\n' + "\\n".join(lines) + ('\\n.byte 0x0f, 0x0b\\n");\n' if os.uname().machine == "x86_64"
                                                     else '\\nudf #0\\n");\n')


HERE = "uint32_t skrt_block_num(const skrt_core *core) { return 7; }\n"
BODY = """
void own(skrt_core *core, uint64_t offset)
{
    if (skrt_block_idx(core) == 0)
        for (int i = 0; i < 4; i++)
            ((float *)skrt_args(core, offset)[1])[i] = skrt_block_num(core) %s;
}
"""
LINKED = {"by skirc": ("", ""), "by the system's linker": ("static __thread int calls;\n", "+ calls++ * 0")}
for way, (head, more) in LINKED.items():
    for kind in KINDS:
        path = build("imposters", head + HERE + imposters(kind) + BODY % more)
        for flags in [], ["--check-kernels", "--compare=unfused"], ["--in-process"]:
            done = tap.skirc("run", path, "-i", "x=1", "--repeat=2", "--print=y", "-oz=z.npy", "--json=run.json", *flags)
            written = [os.path.exists(name) and os.path.getsize(name) > 0 for name in ("z.npy", "run.json")]
            tap.check(f"names that others have, {kind}, linked {way} {' '.join(flags)}", done.returncode == 0
                      and "[7 7 7 7]" in done.stdout and not done.stderr and all(written), f"{done.returncode} {done.stdout}{done.stderr}")
            for name in "z.npy", "run.json":
                if os.path.exists(name):
                    os.unlink(name)

# An object that may not be read is there. Who may read all does it as somebody else.
path = build("closed", OWN % "")
os.chmod("closed.o", 0)
os.chmod(".", 0o755)
os.chmod("tmp", 0o777)


def run_as_nobody(*arguments):
    return subprocess.run([tap.SKIRC, *arguments], capture_output=True, text=True,
                          preexec_fn=lambda: os.geteuid() == 0 and os.setuid(65534))


try:
    able = run_as_nobody("--version").returncode == 0
except (OSError, subprocess.SubprocessError):
    able = False
if able:
    done = run_as_nobody("run", path, "-i", "x=1", "--repeat=0")
    tap.check("an object that may not be read", done.returncode == 1 and "closed.o" in done.stderr
              and "Permission denied" in done.stderr and "is not there" not in done.stderr, done)
else:
    tap.skip("an object that may not be read", "nobody may run skirc")

tap.done()
