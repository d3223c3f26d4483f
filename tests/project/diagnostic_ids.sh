# Every diagnostic of ir/support/diag_ids.def is expected by a test: by a golden file, whose
# expectations end in the id in brackets, or by a script or unit test, which has the id in brackets
# too. A golden file's line counts only as an expectation; whether the diagnostic is really reported
# is what golden_files.sh checks.
source "${SKIR_SOURCE:?}/tests/tap.sh"
cd "$SKIR_SOURCE" || exit 99

# A file that cannot be read is no text, so it can have no expectation.
check_status 1 "a file that is not there is an error" "$SKIRC" check "$scratch/absent.skir"
check_match "and says which" 'absent\.skir.*No such file.*\[file\]' "$scratch/stderr"

# Nor can golden files bring a broken compiler, or an object.
cat >"$scratch/fused.skir" <<'END'
skir 1
kernel @mine : aiv_only {block = 1, object = "mine.o", function = "mine", params = [x, y]}
graph @g(%a: f32[16]) -> f32[16] {
  scope @s {
    %b = Mine(%a) : f32[16] via @mine
    %c = Add(%b, %b) : f32[16]
  }
  return %c
}
END
echo 'void mine(void *core, unsigned long args) { (void)core, (void)args; }' >"$scratch/mine.c"
"${CC:-cc}" -c -o "$scratch/mine.o" "$scratch/mine.c"
check "a kernel's object is linked" "$SKIRC" compile -o "$scratch/out.o" "$scratch/fused.skir"
check_status 4 "a compiler that cannot be run is a tool's failure" \
    env CXX=/nonexistent/cc "$SKIRC" run --target=ascend "$scratch/fused.skir"
check_match "and says which" '/nonexistent/cc.*\[tool\]' "$scratch/stderr"
# Byte 18 of an ELF file is the machine; no machine has this number.
printf '\352' | dd of="$scratch/mine.o" bs=1 seek=18 conv=notrunc status=none
check_status 1 "objects for different machines cannot be linked" \
    "$SKIRC" compile -o "$scratch/out.o" "$scratch/fused.skir"
check_match "and the message says so" 'for another machine .*\[kernel-object\]' "$scratch/stderr"

expected=$scratch/expected
{
    find tests/golden -name '*.skir' -exec sed -s '/^\/\/! \(expect\|also\)\( \|$\)/,$d' {} + |
        grep -o '//! *\(error\|warning\|remark\)[@:].*'
    cat tests/cli/*/*.sh tests/cli/*/*.py tests/project/*.sh tests/project/*.py tests/unit/*/*.c \
        tests/import/*/*.err
} | tr -d '\\' | grep -o '\[[-a-z]*\]' | sort -u >"$expected"

while IFS= read -r id; do
    check "[$id] is expected by a test" grep -qxF "[$id]" "$expected"
done < <(sed -n 's/^DIAG([a-z_]*, *[A-Z]*, *"\([-a-z]*\)".*/\1/p' ir/support/diag_ids.def)

check "the table was read" test "$tap_cases" -gt 20
tap_done
