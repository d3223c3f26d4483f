# No golden file depends on the code that the machine's compiler makes of the sample kernels: all
# pass where these are larger by some units of preloads.
source "${SKIR_SOURCE:?}/tests/tap.sh"

build=$(cd "$(dirname "$SKIRC")" && pwd)
mkdir -p "$scratch/backend/kernels"
cp "$SKIRC" "$scratch/skirc"
cp "$build"/backend/kernels/*.json "$build/backend/kernels/skrt.h" \
    "$build/backend/kernels/dtypes.def" "$scratch/backend/kernels/"
printf '.text\n.space 6144\n.section .note.GNU-stack,"",%%progbits\n' >"$scratch/more.s"
check "there is an assembler" ${CC:-cc} -c -o "$scratch/more.o" "$scratch/more.s"
larger=true
for json in "$build"/backend/kernels/*.json; do
    name=$(basename "$json" .json)
    ${CC:-cc} -nostdlib -r -o "$scratch/backend/kernels/$name.o" "$build/backend/kernels/$name.o" \
        "$scratch/more.o" || larger=false
done
check "sample kernels of another size can be made" $larger

cat >"$scratch/g.skir" <<'EOF'
skir 1
graph @g(%a: f32[16]) -> f32[16] {
  scope @s {
    %b = Own(%a, %a) : f32[16] via @k
  }
  return %b
}
kernel @k : aiv_only {
  block = 48, object = "dequant_swiglu_quant.o", function = "dequant_swiglu_quant"
}
EOF
"$SKIRC" opt --passes=default "$scratch/g.skir" >"$scratch/here"
"$scratch/skirc" opt --passes=default "$scratch/g.skir" >"$scratch/there"
check_status 1 "they change what preload-code makes" cmp -s "$scratch/here" "$scratch/there"
check "all golden files pass" "$scratch/skirc" test "$SKIR_SOURCE/tests/golden"
tap_done
