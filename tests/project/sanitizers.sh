# A build by clang without a warning, with AddressSanitizer, UndefinedBehaviorSanitizer and all
# assertions, takes all golden files, and its fuzz targets take their corpora, the files that their
# runs begin with, and hostile ones.
source "${SKIR_SOURCE:?}/tests/tap.sh"

command -v clang >/dev/null || tap_skip_all "clang is not installed"
[ -e "$SKIR_SOURCE/.git" ] || tap_skip_all "this is no checkout"
kernels=$(cd "$(dirname "$SKIRC")" && pwd)/backend/kernels
source=$(cd "$SKIR_SOURCE" && pwd)
targets=$(cd "$source" && printf '%s\n' tests/fuzz/fuzz_*.c | sed 's/\.c$//')
cd "$scratch"

# A compiler cache serves what has not changed since the last time, whatever the folder.
cc=clang
command -v ccache >/dev/null && cc="ccache clang"
export CCACHE_NOHASHDIR=1 CCACHE_BASEDIR=$source

configures()
{
    "$source"/configure CC="$cc" CFLAGS="-O0 -gline-tables-only -Werror" \
        --enable-asan --enable-ubsan --enable-checks --disable-shared
}
check "the build can be configured" configures
check "clang takes the product and the fuzz targets without a warning" \
    make -s -j2 -k skirc $targets tests/fuzz/dictionary
# The sample kernels are compiled by cc alone, with flags of their own.
cp "$kernels"/*.o "$kernels"/*.json "$kernels/skrt.h" "$kernels/dtypes.def" backend/kernels/

takes_units()
{
    mkdir units
    (cd "$source" && printf '%s\n' tests/unit/*.c tests/unit/*/*.c |
        xargs -P2 -I{} sh -c '"$@" -o "$0/$(basename {})".o {}' "$scratch/units" $cc -c -std=gnu11 \
            -Wall -Wextra -Werror -DHAVE_CONFIG_H -DSKIR_KERNEL_DIR='""' -DSKIR_INCLUDE_DIR='""' \
            -I"$scratch" -I. -Iir/core)
}
check "clang takes the unit tests without a warning" takes_units
check "the golden files pass" ./skirc test "$source/tests/golden"

cat >t.json <<'END'
{"T": {"operands": ["x"], "results": ["y"], "shape": ["x = [..r, n]", "y = r"]}}
END
{
    cat t.json
    printf 'skir 1\n\ngraph @g(%%x: f32[2, 3]) -> f32[2] {\n  %%y = T(%%x)\n  return %%y\n}\n'
} >t.skir
printf '{"T' >cut.json
: >empty
for target in $targets; do
    name=${target##*/}
    check "$name takes seeds" "./$target" "$source"/docs/examples/*.skir \
        "$source"/ir/optypes/ops/*.json t.json t.skir cut.json empty
    corpus=$source/tests/fuzz/corpus/$name
    [ -d "$corpus" ] && check "$name takes its corpus" "./$target" "$corpus"/*
done
for name in passes golden; do
    check "fuzz_$name takes golden files" find "$source/tests/golden" -name '*.skir' \
        -exec "tests/fuzz/fuzz_$name" {} +
done
tests/fuzz/dictionary >dictionary
for word in graph MatMul stream-fusion insert-syncs arrive bf16 --passes= transpose_x1; do
    check_match "the dictionary has $word" "^\"$word\"\$" dictionary
done
tap_done
