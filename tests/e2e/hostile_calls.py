"""run: kernels that forbid their process system calls, or that leave it waiting: there is an end, and a
word about it, all the same."""

import ctypes
import os
import sys

sys.path.insert(0, os.path.join(os.environ["SKIR_SOURCE"], "tests"))
import tap
from hostile import OWN, build, check, check_harmless

PR_GET_SECCOMP = 21
if ctypes.CDLL(None).prctl(PR_GET_SECCOMP, 0, 0, 0, 0) < 0:
    tap.skip("filters of system calls", "this system has none (CONFIG_SECCOMP)")
    tap.done()

# A filter of one call: what it gives, for one thread or for all.
FORBID = """
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
static void forbid(int number, int error, int flags)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {4, filter};
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program))
        abort();
}
"""
ALL = "SECCOMP_FILTER_FLAG_TSYNC"
FORBIDDEN = [r"skirc: a kernel has forbidden its process system calls \(seccomp\)",
             "it is one of Own %y, Relu %z"]
for call in ("write", "writev", "close", "openat", "pread64", "read", "exit", "exit_group", "mmap",
             "munmap", "mprotect", "fcntl"):
    for error in "0", "EAGAIN", "EINTR":
        check(f"a kernel that forbids {call} with {error}",
              build("forbidding", FORBID + OWN % f"forbid(SYS_{call}, {error}, {ALL});"), FORBIDDEN,
              "--timeout=1", "--repeat=0")
# The C library may end a process that cannot wait.
for error in "0", "EAGAIN", "EINTR":
    check(f"a kernel that forbids futex with {error}",
          build("forbidding", FORBID + OWN % f"forbid(SYS_futex, {error}, {ALL});"),
          [r"skirc: a (sub-kernel crashed \(signal 6\)|kernel has forbidden)"], "--timeout=1", "--repeat=0")
check("a kernel that does so in a measured run", build("later", FORBID + """
static int runs;
""" + OWN % f"if (++runs == 3) forbid(SYS_write, 0, {ALL});"), FORBIDDEN, "--timeout=1", "--repeat=5")
check("a kernel that does so, and does not return", build("endless", FORBID + OWN % (
    f"forbid(SYS_write, 0, {ALL}); for (volatile int i = 0;; i++);")), FORBIDDEN, "--timeout=1")
check_harmless("a kernel that forbids its own thread what it does not need",
               build("own", FORBID + OWN % "forbid(SYS_openat, EPERM, 0);"), "--timeout=1")

# ---- Waiting behind launches ----

WAITS = ["skirc: timeout: behind the launches the process of the kernels waits for a lock or a thread",
         "calls that cores were in last:"]
check("a kernel that keeps a lock of the C library", build("locking", FORBID + OWN % (
    "flockfile(stdout);")), WAITS, "--timeout=1", "--repeat=0")
check("a kernel whose thread cannot end", build("staying", FORBID + OWN % (
    "forbid(SYS_exit, EAGAIN, 0);")), WAITS, "--timeout=1", "--repeat=0")
# That launches may take as long as they like is not said of what comes behind them.
check("a kernel that keeps a lock where launches have no limit", build("unlimited", FORBID + OWN % (
    "flockfile(stdout);")), WAITS + ["it is one of Own %y, Relu %z"], "--timeout=0", "--repeat=0")

tap.done()
