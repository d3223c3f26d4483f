# Commands that need more memory than they may have: one message, a status of its own, nothing left
# behind.
source "${SKIR_SOURCE:?}/tests/tap.sh"

mkdir "$scratch/tmp" "$scratch/out"
export TMPDIR=$scratch/tmp
large=$scratch/large.skir
python3 "$SKIR_SOURCE/tests/bench/generate.py" --ops 30000 --format fused -o "$large"
cp "$large" "$scratch/copy.skir"
{
    printf '//! check\n//! a large test\n'
    cat "$large"
} >"$scratch/test.skir"

limited() # KIB ARGUMENTS...
(
    ulimit -v "$1" || exit 99
    shift
    exec "$SKIRC" "$@"
)

# The least with which skirc starts. A sanitizer needs more address space than any limit gives.
least=1024
while ! limited "$least" --version >/dev/null 2>&1; do
    least=$((least + 256))
    [ "$least" -lt 65536 ] || tap_skip_all "skirc does not start with 64 MiB of address space"
done
[ "$least" -gt 1024 ] || tap_skip_all "the system does not limit address space"

nothing_left() # CLAIM
{
    find "$scratch/tmp" "$scratch/out" -type f >"$scratch/left"
    check_match "$1" '^0$' <(wc -l <"$scratch/left")
}

exhausts() # ARGUMENTS...
{
    for more in 256 1024 2048; do
        check_status 3 "$1 with $more KiB more than it needs to start" \
            limited $((least + more)) "$@"
        check_match "says so and nothing else" '^skirc: out of memory$' "$scratch/stderr"
        check_match "once" '^1$' <(wc -l <"$scratch/stderr")
        nothing_left "leaves no file"
    done
}

exhausts check "$large"
exhausts check --explain --remarks="$scratch/out/remarks.json" "$large"
exhausts fmt -o "$scratch/out/large.skir" "$large"
exhausts fmt -i "$scratch/copy.skir"
check "a file to be replaced stays as it is" cmp "$large" "$scratch/copy.skir"
exhausts opt --passes=default -o "$scratch/out/large.skir" "$large"
exhausts compile -o "$scratch/out/large.o" "$large"
exhausts compile --emit=entry -o "$scratch/out/large.skir" "$large"
exhausts run "$large"

# Where a run has memory for some of what it needs, threads or fibers say that there is none.
cat >"$scratch/small.skir" <<'END'
skir 1
graph @g(%x: f32[4]) -> f32[4] {
  scope @s {
    %y = Relu(%x) : f32[4]
  }
  return %y
}
END
for more in $(seq 4000 4000 60000); do
    limited $((least + more)) run "$scratch/small.skir" --repeat=0 --threads=4 \
        >"$scratch/stdout" 2>"$scratch/stderr"
    status=$?
    check "run with $more KiB more is done, or has no memory: $status" \
        test $status = 0 -o \( $status = 3 -a "$(cat "$scratch/stderr")" = "skirc: out of memory" \)
done

# A test that has no memory is one failed test.
check_status 1 "a golden test's process" limited $((least + 3072)) test "$scratch/test.skir"
check_match "is reported" 'out of memory' "$scratch/stdout"
check_match "as a failure" '0 passed, 1 failed' "$scratch/stdout"
check_status 3 "the process that runs the tests" limited $((least + 256)) test "$scratch/test.skir"
check_match "says so" '^skirc: out of memory$' "$scratch/stderr"
nothing_left "leaves no file"

check "memory that suffices" "$SKIRC" check --no-lower "$large"
tap_done
