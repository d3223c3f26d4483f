"""A stand-in for the device's toolkit: a bisheng that compiles by clang++ with a header for the few
primitives that tests use, and writes what it is called with to the file STAND_LOG."""

import os

HEADER = r"""
#pragma once
#include <stdint.h>
#define __gm__
#define __aicore__
#define __global__
typedef uint8_t *GM_ADDR;
#ifdef __DAV_CUBE__
#define ASCEND_IS_AIC (true)
#define ASCEND_IS_AIV (false)
#else
#define ASCEND_IS_AIC (false)
#define ASCEND_IS_AIV (true)
#endif
enum Pipe { PIPE_FIX, PIPE_MTE3, PIPE_ALL };
extern "C" {
void stand_step(const char *what, uint64_t a, uint64_t b);
uint64_t stand_coreid();
uint64_t *stand_para_base();
}
static inline uint64_t *get_para_base() { return stand_para_base(); }
static inline uint64_t get_coreid() { return stand_coreid(); }
static inline uint64_t get_block_idx() { return 0; }
static inline void set_ffts_base_addr(uint64_t) {}
static inline void dcci(const volatile uint64_t *word, int, int)
{ stand_step("dcci", (uint64_t)word, 0); }
/* The device compiler knows these itself. */
#define pipe_barrier(pipe) stand_step("pipe_barrier", pipe, 0)
#define ffts_cross_core_sync(pipe, message) stand_step("sync", message, pipe)
#define wait_flag_dev(flag) stand_step("wait", flag, 0)
#define preload(function, units) stand_step("preload", units, (uint64_t)function)
namespace AscendC {
enum Flag { SYNC_AIC_FLAG = 1, SYNC_AIV_ONLY_ALL, SYNC_AIC_AIV_FLAG, SYNC_AIV_FLAG };
static inline uint64_t GetffstMsg(int, Flag f) { return f; }
static inline uint64_t GetBlockIdx() { return 0; }
}
struct BaseTlv { unsigned short type, len; };
struct FunMetaKType { BaseTlv head; unsigned int ktype; };
struct FunMetaMixCoreType { BaseTlv head; unsigned short taskRation0, taskRation1; };
struct FunLevelMixCoreType { FunMetaKType ktypeMeta; FunMetaMixCoreType mixCoreType; };
enum { F_TYPE_KTYPE = 1, F_TYPE_MIX_TASK_RATION = 3, K_TYPE_MIX_AIC_MAIN = 4,
       K_TYPE_MIX_AIV_MAIN = 5 };
struct OpSystemRunCfg { uint64_t l2Cacheoffset; };
extern OpSystemRunCfg g_opSystemRunCfg;
inline uint64_t g_super_kernel_early_start_config = 99;
inline uint64_t unused_by_entry = 1;
#ifdef STAND_BREAK
#define PIPE_FIX no_such_pipe
#endif
"""

BISHENG = r"""#!/usr/bin/env python3
import os, subprocess, sys
words, rest, log = [], iter(sys.argv[1:]), []
for word in rest:
    if word in ("-x", "-mllvm"):
        next(rest)
    elif word.startswith("--cce-aicore-arch="):
        words.append("-D__DAV_VEC__" if word.endswith("vec") else "-D__DAV_CUBE__")
        words.append("-D__NPU_ARCH__=2201")
    elif not word.startswith("--cce"):
        words.append(word)
with open(os.environ.get("STAND_LOG", os.devnull), "a") as log:
    log.write("\0".join(sys.argv[1:]) + "\n")
extra = os.environ.get("STAND_OPTIONS", "").split()
done = subprocess.run(["clang++", "-fPIC", "-w", *extra, *words])
if done.returncode == 0 and os.environ.get("STAND_MACHINE"):
    path = words[words.index("-o") + 1]
    data = bytearray(open(path, "rb").read())
    data[18:20] = int(os.environ["STAND_MACHINE"]).to_bytes(2, "little")
    open(path, "wb").write(data)
sys.exit(done.returncode)
"""

# The device's linker: with -r the machine's own, without what only the device's has; the last step
# puts an object at its addresses, for which the kind of file stands here.
LLD = r"""#!/usr/bin/env python3
import os, shutil, subprocess, sys
words = [word for word in sys.argv[1:]
         if word not in ("-m", "aicorelinux", "-Ttext=0", "-q", "-x", "-static")]
if "-r" in words:
    sys.exit(subprocess.run(["ld", *words]).returncode)
out = words[words.index("-o") + 1]
with open(words[0], "rb") as file:
    data = bytearray(file.read())
if not os.environ.get("STAND_IDLE"):
    data[16:18] = (2).to_bytes(2, "little")
with open(out, "wb") as file:
    file.write(data)
"""


def folders(home):
    """Those of tools and of headers."""
    return (os.path.join(home, "compiler", "ccec_compiler", "bin"),
            os.path.join(home, "compiler", "asc", "include"))


def make(home):
    """Makes the toolkit in a folder, which ASCEND_HOME_PATH may name then."""
    tools, headers = folders(home)
    os.makedirs(tools)
    os.makedirs(headers)
    for path, text in ((os.path.join(headers, "kernel_operator.h"), HEADER),
                       (os.path.join(tools, "bisheng"), BISHENG),
                       (os.path.join(tools, "ld.lld"), LLD)):
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        os.chmod(path, 0o755)
