# Each fuzz target takes the first files that its run begins with, and hostile ones.
source "${SKIR_SOURCE:?}/tests/tap.sh"

programs=${SKIRC%/*}/tests/fuzz
cat >"$scratch/t.json" <<'END'
{"T": {"operands": ["x"], "results": ["y"], "shape": ["x = [..r, n]", "y = r"]}}
END
{
    cat "$scratch/t.json"
    printf 'skir 1\n\ngraph @g(%%x: f32[2, 3]) -> f32[2] {\n  %%y = T(%%x)\n  return %%y\n}\n'
} >"$scratch/t.skir"
printf '{"T' >"$scratch/cut.json"
: >"$scratch/empty"
for source in "$SKIR_SOURCE"/tests/fuzz/fuzz_*.c; do
    name=$(basename "$source" .c)
    check "$name takes seeds" "$programs/$name" "$SKIR_SOURCE"/docs/examples/*.skir \
        "$SKIR_SOURCE"/ir/ops/*.json "$scratch"/t.json "$scratch"/t.skir "$scratch"/cut.json \
        "$scratch"/empty
    corpus=$SKIR_SOURCE/tests/fuzz/corpus/$name
    [ -d "$corpus" ] && check "$name takes its corpus" "$programs/$name" "$corpus"/*
done
for name in passes golden; do
    check "fuzz_$name takes golden files" find "$SKIR_SOURCE/tests/golden" -name '*.skir' \
        -exec "$programs/fuzz_$name" {} +
done
"$programs/dictionary" >"$scratch/dictionary"
for word in graph MatMul stream-fusion insert-syncs arrive bf16 --passes= transpose_x1; do
    check_match "the dictionary has $word" "^\"$word\"\$" "$scratch/dictionary"
done
tap_done
