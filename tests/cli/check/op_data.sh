# Data of op types in a folder of kernels adds types, which ops are held to, and contradicts none.
source "${SKIR_SOURCE:?}/tests/tap.sh"

mkdir "$scratch/own" "$scratch/wrong" "$scratch/other"
cat >"$scratch/own/own.ops.json" <<'END'
{"MyGate": {"about": "x times a gate for each row", "operands": ["x", "gate"], "results": ["y"],
            "dtypes": {"gate": "x", "y": "x"},
            "shape": ["x = [..rows, n]", "gate = rows", "y = x"]}}
END
echo '{"MyGate": {"operands": ["x"]' >"$scratch/wrong/broken.ops.json"
echo '{"Add": {"operands": ["x"], "results": ["y"]}}' >"$scratch/other/other.ops.json"
cat >"$scratch/good.skir" <<'END'
skir 1
graph @g(%x: f32[4, 8], %gate: f32[4]) -> f32[4, 8] {
  %y = MyGate(%x, gate = %gate) : f32[4, 8]
  return %y
}
END
sed 's/gate = %gate/gate = %x/' "$scratch/good.skir" >"$scratch/bad.skir"

check "an op of a private type is right" \
    "$SKIRC" opt --kernel-dir="$scratch/own" "$scratch/good.skir"
check "without the folder nothing is known of it" "$SKIRC" opt "$scratch/bad.skir"
check_status 1 "with it, it is held to its rules" \
    "$SKIRC" opt --kernel-dir="$scratch/own" "$scratch/bad.skir"
check_match "which say so" \
    "'gate' of MyGate is \[4, 8\], but by 'gate = rows' it is \[4\].*op-signature" \
    "$scratch/stderr"

cat >"$scratch/own/many.ops.json" <<'END'
{"Twice": {"operands": ["x"], "results": ["y"], "dtypes": {"y": "x"}, "shape": ["y = [..x, ..x]"]},
 "Long": {"operands": ["x"], "results": ["y"], "dtypes": {"y": "x"}, "shape": ["y = [LONG]"]}}
END
sed -i "s/LONG/$(seq -s ', ' 1 200)/" "$scratch/own/many.ops.json"
for dim in 1 n; do
    dims=$(yes $dim | head -33 | paste -sd,)
    cat >"$scratch/many.skir" <<END
skir 1
graph @g(%x: f32[$dims]) dims (n) -> () {
  %y = Twice(%x)
  %z = Relu(%y)
}
END
    check_status 1 "too many dimensions of $dim are refused" \
        "$SKIRC" opt --kernel-dir="$scratch/own" "$scratch/many.skir"
    check_match "  by what makes them" \
        "the rule of Twice gives 'y' 66 dimensions, but a type has at most 64 .cannot-infer" \
        "$scratch/stderr"
    check_match "  and nothing is printed" '^0$' <(wc -c <"$scratch/stdout")
done
cat >"$scratch/long.skir" <<'END'
skir 1
graph @g(%x: f32[4]) -> () {
  %y = Long(%x) : f32[4]
}
END
check_status 1 "rules may be long" "$SKIRC" opt --kernel-dir="$scratch/own" "$scratch/long.skir"
check_match "but messages have what is behind them, too" \
    "'y' of Long is .4., but by 'y = .1, 2, 3, .*, 3[0-9]*\.\.\.' it is .1, 2, .*\.\.\.. .op-sig" \
    "$scratch/stderr"

check "the type can be shown" "$SKIRC" opt --kernel-dir="$scratch/own" --op-type=MyGate
check_match "with all that is known" 'shape  *x = \[..rows, n\]' "$scratch/stdout"
check_status 2 "an unknown one is wrong usage" "$SKIRC" opt --op-type=MyGaet
check "one without AI cores can be shown" "$SKIRC" opt --op-type=HcomBroadcast
check_match "and that it has none" 'its kernel runs on no AI cores' "$scratch/stdout"
check_status 1 "broken data is an error" \
    "$SKIRC" opt --kernel-dir="$scratch/wrong" "$scratch/good.skir"
check_match "that names the place" \
    'broken\.ops\.json:1:12: error: this .{. is not ended by .}. \[op-data\]' "$scratch/stderr"
check_status 1 "so is data that says something else than is known" \
    "$SKIRC" opt --kernel-dir="$scratch/other" "$scratch/good.skir"
check_match "and of what" \
    "op type 'Add' is another one than that of 'elementwise'" "$scratch/stderr"
check_status 1 "broken data cannot be shown" \
    "$SKIRC" opt --kernel-dir="$scratch/wrong" --op-type=Add
tap_done
