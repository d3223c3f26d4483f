# What fmt prints is canonical, and means what its input means: for every golden file's input that
# can be parsed, fmt leaves fmt's output as it is, and opt prints the same before and after fmt.
# One of them has every instruction.
source "${SKIR_SOURCE:?}/tests/tap.sh"

# The program without the header and expectations, which would end it, or be out of place.
program() # FILE
{
    sed -e '1,2d' -e '/^\/\/! \(expect\|also\)\( \|$\)/,$d' "$1"
}

files=0
differing=()
while IFS= read -r file; do
    program "$file" >"$scratch/input.skir"
    rm -rf "$scratch/kernels"
    [ ! -d "${file%/*}/kernels" ] || cp -r "${file%/*}/kernels" "$scratch" # what it includes
    "$SKIRC" fmt "$scratch/input.skir" >"$scratch/once.skir" 2>"$scratch/stderr" || continue
    files=$((files + 1))
    "$SKIRC" fmt "$scratch/once.skir" >"$scratch/twice.skir" 2>>"$scratch/stderr"
    cmp -s "$scratch/once.skir" "$scratch/twice.skir" || differing+=("$file: formatted twice")
    "$SKIRC" fmt --check "$scratch/once.skir" 2>>"$scratch/stderr" ||
        differing+=("$file: its canonical form is refused")
    "$SKIRC" opt "$scratch/input.skir" >"$scratch/a.skir" 2>/dev/null
    "$SKIRC" opt "$scratch/once.skir" >"$scratch/b.skir" 2>/dev/null
    cmp -s "$scratch/a.skir" "$scratch/b.skir" || differing+=("$file: another program")
done < <(find "$SKIR_SOURCE/tests/golden" "$SKIR_SOURCE/docs/examples" -name '*.skir' | sort)

if [ "${#differing[@]}" -eq 0 ]; then
    tap_result ok "the canonical form of $files programs is stable and means the same"
else
    tap_result 'not ok' "the canonical form of $files programs is stable and means the same"
    printf '# %s\n' "${differing[@]}"
fi
check "there are programs to look at" test "$files" -gt 20

while IFS= read -r name; do
    check "a golden file has '$name' in canonical form" \
        grep -qw "$name" "$SKIR_SOURCE/tests/golden/language/entries.skir"
done < <(sed -n 's/^INSTR(\([a-z_]*\),.*/\1/p' "$SKIR_SOURCE/ir/instrs.def")
tap_done
