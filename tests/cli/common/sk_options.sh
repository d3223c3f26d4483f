# --sk-options: its mistakes are wrong usage, with the texts that a scope's options have. Columns of
# mistakes in files. The list of options.
source "${SKIR_SOURCE:?}/tests/tap.sh"
cat >"$scratch/graph.skir" <<'END'
skir 1
graph @g(%a: f32[16]) -> f32[16] {
  scope @s {options = "split-mode=2"} {
    %b = Add(%a, %a) : f32[16]
    %c = Add(%b, %a) : f32[16]
  }
  return %c
}
END

for command in check opt "compile --emit=skir" run; do
    # shellcheck disable=SC2086 # a command and its options
    check_status 2 "$command: an unknown option is wrong usage" \
        "$SKIRC" $command --sk-options=early-start=0:stream-funsion=1 "$scratch/graph.skir"
    check_match "$command: which says where" \
        "^--sk-options:1:15: error: unknown option 'stream-funsion' \[unknown-option\]$" \
        "$scratch/stderr"
    check_match "$command: and what was meant" "did you mean 'stream-fusion'\?" "$scratch/stderr"
    check_match "$command: and where to read more" "^try 'skirc ${command%% *} --help'$" \
        "$scratch/stderr"
    # shellcheck disable=SC2086
    check_status 2 "$command: so is a bad value" \
        "$SKIRC" $command --sk-options split-mode=65 "$scratch/graph.skir"
    check_match "$command: which says why" "bad value '65' for 'split-mode'.*\[option-value\]" \
        "$scratch/stderr"
done

# Columns in a file: inside the string, or the string where it has escapes.
cat >"$scratch/columns.skir" <<'END'
skir 1
graph @g() -> () {
  scope @s {options = "early-start=0:stream-funsion=1"} {
  }
  scope @t {"options" = "x=1"} {
  }
  scope @u {"options" = "split-mode=65"} {
  }
  scope @v {options = "\x73plit-mode=66"} {
  }
}
END
check_status 1 "mistakes in a file are errors" "$SKIRC" check "$scratch/columns.skir"
check_match "the column of a name" "columns\.skir:3:38: error: unknown option 'stream-funsion'" \
    "$scratch/stderr"
check_match "its caret" '^ +\| {38}\^~{13}$' "$scratch/stderr"
check_match "behind a key in quotes" "columns\.skir:7:37: error: bad value '65'" "$scratch/stderr"
check_match "a string with escapes" "columns\.skir:9:23: error: bad value '66'" "$scratch/stderr"

check "correct options are accepted" \
    "$SKIRC" check --sk-options=early-start=0:preload-code=none "$scratch/graph.skir"
check "and say nothing" test ! -s "$scratch/stderr"
check "no options are accepted" "$SKIRC" check --sk-options= "$scratch/graph.skir"
check "what has no '=' is skipped" "$SKIRC" check --sk-options=profiling "$scratch/graph.skir"
"$SKIRC" check --sk-options=profiling "$scratch/graph.skir" 2>"$scratch/warning"
check_match "with a warning" \
    "warning: 'profiling' has no '=' .*\[option-ignored\]" "$scratch/warning"

check "--sk-options holds for every scope" \
    "$SKIRC" opt --passes=partition-scopes --sk-options=split-mode=8:early-start=0 \
    "$scratch/graph.skir"
check_match "over what the scope says" '"split-mode=8:early-start=0"' "$scratch/stdout"
check "without it, the scope's options hold" \
    "$SKIRC" opt --passes=partition-scopes "$scratch/graph.skir"
check_match "as they stand" '"split-mode=2"' "$scratch/stdout"

check "--list-sk-options needs no file" "$SKIRC" opt --list-sk-options
"$SKIRC" opt --list-sk-options >"$scratch/list"
check_match "the list has values and defaults" \
    '^preload-code +max, per-func, none +per-func +[a-z]' \
    "$scratch/list"
check "and every option of the table" test "$(wc -l <"$scratch/list")" -eq \
    $((1 + $(grep -c '^SK_OPTION(' "$SKIR_SOURCE/ir/core/sk_options.def")))
tap_done
