#!/usr/bin/env bash
# tests/aarch64.sh SOURCE FOLDER: builds skir for aarch64 in FOLDER with Debian's cross compiler,
# and runs there, under qemu's user emulation, what depends on the machine: the runtime's switch of
# stacks, atomics and barriers, entries as rows and what loads them, kernels, objects, golden files
# and examples. Left out is what is written for x86-64 (objects that tests assemble), and what takes
# long where floats are emulated. Says what is missing and ends with 0 where that is so.
#
# AARCH64_ROOT is the folder that Debian's arm64 packages are unpacked in, / if they are installed.
set -euo pipefail

readonly source=$(realpath -- "$1")
mkdir -p -- "$2"
cd -- "$2"
readonly root=${AARCH64_ROOT:-}
readonly libraries=$root/usr/lib/aarch64-linux-gnu

missing()
{
    printf 'check-aarch64: skipped: %s is missing; on Debian, install %s\n' "$1" "$2"
    exit 0
}

emulator=$(command -v qemu-aarch64 || command -v qemu-aarch64-static || true)
command -v aarch64-linux-gnu-gcc >/dev/null || missing aarch64-linux-gnu-gcc gcc-aarch64-linux-gnu
[ -n "$emulator" ] || missing qemu-aarch64 qemu-user
for module in libelf libcjson nettle cmocka; do
    PKG_CONFIG_LIBDIR=$libraries/pkgconfig pkg-config --exists "$module" ||
        missing "$module for arm64" \
            "lib${module#lib}-dev:arm64, after 'dpkg --add-architecture arm64'"
done

# ---- The build ----

if [ -n "$root" ]; then
    emulator="$emulator -L $root"
fi
if [ ! -e Makefile ]; then
    PKG_CONFIG_LIBDIR=$libraries/pkgconfig PKG_CONFIG_SYSROOT_DIR=$root \
        "$source/configure" --host=aarch64-linux-gnu EMULATOR="$emulator" \
        CC="${AARCH64_CC:-aarch64-linux-gnu-gcc}" CPPFLAGS="-isystem $root/usr/include" \
        LDFLAGS="-L$libraries -Wl,-rpath-link,$libraries:$root/lib/aarch64-linux-gnu"
fi
make -s -j"$(nproc)" all

# ---- What skirc and the tests call: themselves, and tools, for aarch64 ----

mkdir -p tools
for name in cc gcc ld nm objcopy objdump; do
    tool=aarch64-linux-gnu-${name/#cc/gcc}
    printf '#!/bin/sh\nexec %s "$@"\n' "$tool" >"tools/$name"
done
printf '#!/bin/sh\nexec %s %s/skirc "$@"\n' "$emulator" "$PWD" >tools/skirc
chmod +x tools/*
export PATH=$PWD/tools:$PATH

# ---- Tests ----

units=
for name in backend call_orders kernels kernels_elementwise kernels_lists kernels_matmul \
    kernels_movement object_image object_lines object_packed object_ranks object_relocate parts \
    sample_ops samples skrt skrt_calls skrt_dynamic skrt_failures skrt_feed skrt_profile \
    skrt_race skrt_streams skrt_trace skrt_workers tensor; do
    units="$units $(cd "$source" && echo tests/unit/*/test_$name.c | sed s/.c$//)"
done
make -s check TESTS="$units"
make -s check TESTS=tests/cli/run/run_values.py TESTS_ENVIRONMENT="SKIRC=$PWD/tools/skirc"
cd -- "$source"
for name in decoder_layer if_while moe_block multi_stream quant_swiglu_small training_step; do
    "$OLDPWD/tools/skirc" run --compare=unfused --race-check --repeat=1 "docs/examples/$name.skir"
done
"$OLDPWD/tools/skirc" test -j"$(nproc)" tests/golden
