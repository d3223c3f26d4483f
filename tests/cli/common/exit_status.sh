# Exit statuses, colours and remarks of whole commands.
source "${SKIR_SOURCE:?}/tests/tap.sh"
examples=$SKIR_SOURCE/docs/examples
small=$examples/quant_swiglu_small.skir
unset NO_COLOR

printf 'skir 1\ngraph @g(%%x: f32[1]) -> f32[1] {\n  return %%y\n}\n' >"$scratch/bad.skir"
printf 'skir 1\ngraph @g(%%x: f32[1]) -> f32[1] {\n  return %%x\n}\n' >"$scratch/plain.skir"

# ---- 0: done ----

whole=()
for file in "$examples"/*.skir; do
    case $file in
    # The kernels of the first are not here.
    */moe_layer.skir) check "check without kernels" "$SKIRC" check --no-lower "$file" ;;
    */attention_*.skir) check "check of dimensions" "$SKIRC" check --bind b=2 --bind s=64 "$file" ;;
    *) whole+=("$file") ;;
    esac
done
check "check says nothing when all is well" "$SKIRC" check "${whole[@]}"
check_match "nothing" '^0$' <(cat "$scratch/stdout" "$scratch/stderr" | wc -c)
check "the examples are in canonical form" "$SKIRC" fmt --check "$examples"/*.skir
check "--help is done" "$SKIRC" run --help
check "a graph without scopes runs op by op" "$SKIRC" run "$scratch/plain.skir"
check "and is compiled to an object without entries" \
    "$SKIRC" compile "$scratch/plain.skir" -o "$scratch/x.o"
check_match "of which a warning says how to fuse" 'scope @NAME' "$scratch/stderr"
check "the object is one" "$SKIRC" objdump "$scratch/x.o"
check_match "it defines nothing" '^0$' <(grep -c ' func ' "$scratch/stdout")

# ---- 1: the input is at fault ----

check_status 1 "check: a wrong file" "$SKIRC" check "$scratch/bad.skir"
check_match "the position, the text and the id" \
    'bad\.skir:3:10: error: nothing defines .%y.*\[unknown-value\]$' "$scratch/stderr"
check_status 1 "one wrong file among right ones" \
    "$SKIRC" check "$small" "$scratch/bad.skir" "$small"
check_status 1 "compile: a wrong file" "$SKIRC" compile "$scratch/bad.skir" -o "$scratch/x.o"
check_status 1 "run: a wrong file" "$SKIRC" run "$scratch/bad.skir"
check_status 1 "opt: a wrong file" "$SKIRC" opt --passes=default "$scratch/bad.skir"
check_status 1 "fmt --check: not canonical" "$SKIRC" fmt --check - < <(printf 'skir  1\n')
check_status 1 "objdump: no object" "$SKIRC" objdump "$small"
check_status 1 "opt: a pass before what it needs" "$SKIRC" opt --passes=insert-syncs "$small"
check_match "it says what is needed" "run 'partition-scopes' first" "$scratch/stderr"
check_status 1 "no place for temporary files of a compiler" \
    env TMPDIR="$scratch/nowhere" "$SKIRC" run --target=ascend "$small"
check_match "says so" 'error: cannot make a temporary folder: No such file.*\[file\]$' \
    "$scratch/stderr"
check "an object needs neither it nor a compiler" \
    env TMPDIR="$scratch/nowhere" CC=false "$SKIRC" compile -o "$scratch/x.o" "$small"
printf 'skir 1\ntarget "t" {aic = 0, aiv = 0}\ngraph @g() -> () { }\n' >"$scratch/coreless.skir"
check_status 1 "run: a device without cores" "$SKIRC" run "$scratch/coreless.skir"
check_match "it does not start" 'error: cannot start the device: .*\[unsupported\]$' \
    "$scratch/stderr"
check_status 1 "output that cannot be written" \
    bash -c '"$1" fmt "$2" >/dev/full' - "$SKIRC" "$small"
printf 'skir 1\ntarget "%s"\n' "$(printf '%9999s' x)" >"$scratch/long.skir"
mkdir "$scratch/limited"
check_status 1 "output that may not grow so large" \
    bash -c 'ulimit -f 4; "$1" fmt "$2" -o "$3/out.skir"' - "$SKIRC" "$scratch/long.skir" \
    "$scratch/limited"
check "nothing is left of it" test -z "$(ls "$scratch/limited")"

# ---- 2: wrong usage ----

check_status 2 "no command" "$SKIRC"
check_status 2 "an unknown command" "$SKIRC" compil "$small"
check_match "did you mean" "did you mean 'compile'" "$scratch/stderr"
check_status 2 "an unknown option" "$SKIRC" compile --outptu=x "$small"
check_match "did you mean" "did you mean '--output'" "$scratch/stderr"
check_status 2 "an unknown pass" "$SKIRC" opt --passes=partition-scope "$small"
check_match "did you mean" "did you mean 'partition-scopes'" "$scratch/stderr"
check_status 2 "an unknown pass to print after" "$SKIRC" opt --print-after=insert-sync "$small"
check_status 2 "what no target emits" "$SKIRC" compile --emit=object "$small"
check_match "what there is" \
    "no target emits 'object'; there is only obj, skir, entry, c, ascendc, " "$scratch/stderr"
check_status 2 "an unknown kind of output" "$SKIRC" compile --target=host --emit=object "$small"
check_match "what there is" "'host' does not emit 'object'; it emits obj, skir, entry, c\$" \
    "$scratch/stderr"
check_status 2 "the output of another target" "$SKIRC" compile --target=host --emit=ascendc "$small"
check_match "who emits it" "'host' does not emit 'ascendc', but 'ascend' does\$" "$scratch/stderr"
check_status 2 "a misspelt kind of some target" "$SKIRC" compile --emit=ascendcc "$small"
check_match "did you mean" "no target emits 'ascendcc'; did you mean 'ascendc'\?\$" \
    "$scratch/stderr"
check_status 2 "a misspelt kind of another target" "$SKIRC" compile --target=host --emit=ascendcc \
    "$small"
check_match "did you mean" "'host' does not emit 'ascendcc'; did you mean 'ascendc'\?\$" \
    "$scratch/stderr"
check_status 2 "files to standard output" "$SKIRC" compile --target=ascend -o - "$small"
check_match "what it needs" \
    "that other files stand beside cannot be written to standard output: -o OUT" "$scratch/stderr"
check_status 2 "a misspelt kind of output" "$SKIRC" compile --target=host --emit=enty "$small"
check_match "did you mean" "'host' does not emit 'enty'; did you mean 'entry'\?\$" "$scratch/stderr"
for command in compile run; do
    check_status 2 "$command: an unknown target" "$SKIRC" $command --target=toaster "$small"
    check_match "what there is" "there is no target 'toaster'; there is only host, ascend" \
        "$scratch/stderr"
    check_status 2 "$command: a misspelt target" "$SKIRC" $command --target=hots "$small"
    check_match "did you mean" "there is no target 'hots'; did you mean 'host'\?\$" \
        "$scratch/stderr"
    check "$command --help" "$SKIRC" $command --help
    check_match "names the targets" "^ +host: this machine\$" "$scratch/stdout"
done
check "the default target by its name" "$SKIRC" run --target=host "$scratch/plain.skir"
check "compile --help" "$SKIRC" compile --help
check_match "names what each emits" "^ +entry: the entries and their kernels" "$scratch/stdout"
check_status 2 "an object without a place" "$SKIRC" compile "$small"
check_match "the option to give" "needs a file to be written to: -o OUT" "$scratch/stderr"
check_status 2 "no file" "$SKIRC" check
check_status 2 "two files for one output" "$SKIRC" fmt -o "$scratch/x" "$small" "$small"
for command in check fmt opt run objdump; do
    check_status 2 "$command: a colour that is none" "$SKIRC" $command --color=sometimes "$small"
    check_status 2 "$command: a number that is none" "$SKIRC" $command --max-errors=-1 "$small"
done

# ---- 4: an external tool failed ----

for tool in /bin/false /nonexistent; do
    for variable in CC CXX; do
        check_status 4 "$variable=$tool" \
            env $variable=$tool "$SKIRC" run --target=ascend "$small"
        check_match "the tool is named" "$tool" "$scratch/stderr"
    done
done
cat >"$scratch/cc" <<'END'
#!/bin/sh
echo "cc: out of paper" >&2
exit 7
END
chmod +x "$scratch/cc"
check_status 4 "a compiler that complains" \
    env CXX="$scratch/cc" "$SKIRC" run --target=ascend "$small"
check_match "its status and its words are passed on" 'failed \(status 7\)' "$scratch/stderr"
check_match "its words, on a line of their own" '^  help: cc: out of paper$' "$scratch/stderr"
check "CC of several words" \
    env CC="env  LC_ALL=C ${CC:-cc} -g" "$SKIRC" run --target=ascend "$small"
check "an empty CC is none" env CC= "$SKIRC" run --target=ascend "$small"

# ---- Colour ----

escape=$'\033'
no_colour() # CLAIM
{
    if grep -q "$escape" "$scratch/stderr" || ! grep -q 'error:' "$scratch/stderr"; then
        tap_result 'not ok' "$1"
    else
        tap_result ok "$1"
    fi
}
check_status 1 "messages to a file" "$SKIRC" check "$scratch/bad.skir"
no_colour "have no colour"
check_status 1 "--color=always" "$SKIRC" check --color=always "$scratch/bad.skir"
check_match "has" "$escape\\[" "$scratch/stderr"
check_status 1 "--color=always with NO_COLOR" env NO_COLOR=1 \
    "$SKIRC" check --color=always "$scratch/bad.skir"
check_match "has too: the option was asked for" "$escape\\[" "$scratch/stderr"
check_status 1 "--color=never" "$SKIRC" check --color=never "$scratch/bad.skir"
no_colour "has none"
if script -qec true /dev/null >/dev/null 2>&1; then
    on_terminal() # VARIABLES...
    {
        env "$@" script -qec "'$SKIRC' check '$scratch/bad.skir'" /dev/null >"$scratch/stderr" \
            </dev/null
    }
    on_terminal NO_COLOR=
    check_match "messages to a terminal have colours" "$escape\\[" "$scratch/stderr"
    on_terminal NO_COLOR=1
    no_colour "NO_COLOR turns them off"
else
    tap_skip "messages to a terminal" "there is no script(1)"
fi

# ---- Remarks ----

check "--remarks" "$SKIRC" opt --passes=default --remarks "$examples/multi_stream.skir"
check_match "shows what was fused" \
    "remark: scope '@sp': .* has 7 ops: .*\[fused\]" "$scratch/stderr"
check_status 1 "errors as JSON" "$SKIRC" check --remarks="$scratch/errors.json" "$scratch/bad.skir"
check "remarks as JSON" "$SKIRC" opt --passes=default --remarks="$scratch/remarks.json" \
    "$examples/multi_stream.skir"
printf 'skir 1\ngraph @g() {\n  return %%"\\xff\\xed\\xa0\\x80"\n}\n' >"$scratch/bytes.skir"
check_status 1 "names that are no UTF-8" "$SKIRC" check --remarks="$scratch/bytes.json" \
    "$scratch/bytes.skir"
cat >"$scratch/fields.py" <<'END'
import json
import sys

FIELDS = {"severity": str, "id": str, "text": str, "line": int, "column": int, "notes": list}
# What some remarks have besides.
FACTS = {"fused": {"scope", "superkernel", "ops", "streams"},
         "sync-inserted": {"entry", "sync", "cores", "number", "from", "to", "why", "others"}}
for name in "errors", "remarks", "bytes":
    with open(f"{sys.argv[1]}/{name}.json", encoding="utf-8") as file:
        root = json.load(file)
    assert sorted(root) == ["diagnostics", "file"], root
    assert root["file"].endswith(".skir") and root["diagnostics"], root
    for diagnostic in root["diagnostics"]:
        for field, kind in FIELDS.items():
            assert type(diagnostic[field]) is kind, diagnostic
        assert set(diagnostic) == set(FIELDS) | FACTS.get(diagnostic["id"], set()), diagnostic
with open(f"{sys.argv[1]}/errors.json", encoding="utf-8") as file:
    error = json.load(file)["diagnostics"][0]
assert (error["severity"], error["id"], error["line"], error["column"]) == (
    "error", "unknown-value", 3, 10), error
END
check "JSON has the fields that are documented" python3 "$scratch/fields.py" "$scratch"
check_status 1 "a JSON file that cannot be written" "$SKIRC" check --remarks=/nonexistent/r.json \
    "$small"

tap_done
