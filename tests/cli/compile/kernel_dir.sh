# A folder of kernels (--kernel-dir) is enough for new op types, beside the sample kernels.
source "${SKIR_SOURCE:?}/tests/tap.sh"

own=$scratch/own
mkdir "$own" "$scratch/twice"
cat >"$scratch/own.c" <<'END_C'
#include "skrt.h"

static void scale(skrt_core *core, uint64_t args_offset, float by)
{
    const uint64_t *slots = skrt_args(core, args_offset);
    const struct skrt_tensor *x = ((const struct skrt_tiling *)slots[2])->tensors;
    int64_t n = 1;
    for (uint32_t i = 0; i < x->rank; i++)
        n *= x->dims[i];
    for (int64_t i = skrt_block_idx(core); i < n; i += skrt_block_num(core))
        ((float *)slots[1])[i] = by * ((const float *)slots[0])[i];
}

void twice(skrt_core *core, uint64_t args_offset)
{
    scale(core, args_offset, 2);
}

void thrice(skrt_core *core, uint64_t args_offset)
{
    scale(core, args_offset, 3);
}
END_C
headers=$(dirname "$SKIRC")/backend/kernels
check "kernels of one's own are compiled" \
    "${CC:-cc}" -O1 -fPIC -I"$headers" -c "$scratch/own.c" -o "$own/own.o"

describe() # NAME OP_TYPE: the description of a kernel of own.o
{
    cat <<END_JSON
{"kernelName": "$1", "blockDim": 8, "sub_operator_op_type": "$2",
 "sub_operator_params": ["x", "y", "tiling"], "sub_operator_kernel_type": "KERNEL_TYPE_AIV_ONLY",
 "sub_operator_kernel_name": {"AiCore": {"func_name": "$1", "obj_files": "own.o"}}}
END_JSON
}

graph() # OP: the text of a graph with one, beside a sample kernel
{
    cat <<END_GRAPH
skir 1
graph @g(%x: f32[4, 8]) -> f32[4, 8] {
  scope @s {
    %a = $1 : f32[4, 8]
    %b = Add(%a, %x) : f32[4, 8]
  }
  return %b
}
END_GRAPH
}

values() # LOW HIGH CLAIM FILE: what comes out lies there
{
    check "$3 runs" "$SKIRC" run --kernel-dir="$own" "$4" -i x=ones --print b --compare=unfused
    check_match "$3 is what ran" "min $1  max $2  " "$scratch/stdout"
}

describe twice Twice >"$own/twice.json"
graph 'Twice(%x)' >"$scratch/twice.skir"
check_status 1 "without the folder there is no kernel" "$SKIRC" run "$scratch/twice.skir"
check_match "and the error says what helps" \
    "help: an op with a kernel of your own names it.*--kernel-dir=DIR.*'stub'" "$scratch/stderr"
values 3 3 "an op of a new type" "$scratch/twice.skir"
check "it compiles, with the object of a sample kernel" \
    "$SKIRC" compile --kernel-dir="$own" -o "$scratch/twice.o" "$scratch/twice.skir"

graph 'Twice(%x, %x)' >"$scratch/two.skir"
check_status 1 "operands that the kernel does not have are refused" \
    "$SKIRC" check --kernel-dir="$own" "$scratch/two.skir"
check_match "by number" "2 operands and 1 result, but the kernel of Twice takes 2 tensors" \
    "$scratch/stderr"
check_match "with the description" "own/twice\.json' describes it" "$scratch/stderr"
graph 'Twice(%x) {by = 3}' >"$scratch/attr.skir"
values 3 3 "an op with any attribute" "$scratch/attr.skir"

cat >"$own/twice.ops.json" <<'END_DATA'
{"Twice": {"operands": ["x"], "results": ["y"], "dtypes": {"x": "f16 | f32", "y": "x"},
           "shape": ["y = x"]}}
END_DATA
values 3 3 "an op with data of its type" "$scratch/twice.skir"
sed 's/f32/i32/g' "$scratch/twice.skir" >"$scratch/wrong.skir"
check_status 1 "which it is held to" "$SKIRC" run --kernel-dir="$own" "$scratch/wrong.skir"
check_match "by name" \
    "'x' of Twice must be f32 or f16, but is i32" "$scratch/stderr"

describe thrice Neg >"$own/neg.json"
graph 'Neg(%x)' >"$scratch/neg.skir"
check "the sample kernel runs without the folder" \
    "$SKIRC" run "$scratch/neg.skir" -i x=ones --print b
check_match "and negates" "min 0  max 0  " "$scratch/stdout"
values 4 4 "a type of the sample kernels" "$scratch/neg.skir"
graph 'Silu(%x)' >"$scratch/silu.skir"
describe thrice Silu >"$own/silu.json"
values 4 4 "another name of such a type" "$scratch/silu.skir"

describe thrice Twice >"$own/zz.json"
check_status 1 "two kernels for one type are an error" \
    "$SKIRC" run --kernel-dir="$own" "$scratch/neg.skir"
check_match "that names both files" \
    "own/zz\.json:.*: error: '.*own/twice\.json' has the kernel for op type 'Twice' already" \
    "$scratch/stderr"
rm "$own/zz.json"
refused() # CLAIM PATTERN SED-SCRIPT: of a description that is changed so
{
    describe twice Fourth | sed "$3" >"$own/fourth.json"
    graph 'Fourth(%x)' >"$scratch/fourth.skir"
    check_status 1 "$1" "$SKIRC" check --kernel-dir="$own" "$scratch/fourth.skir"
    check_match "  and says so" "$2" "$scratch/stderr"
    rm "$own/fourth.json"
}
refused "a kernel without parameters" 'the kernel of Fourth takes 0 tensors' \
    's/"x", "y", "tiling"//'
refused "a dynamic kernel without functions" \
    "fourth\.json:3:64: error: there are no functions in 'dynamic_func_names'" \
    's/"func_name": "twice"/"dynamic_func_names": {}/'
refused "a dynamic kernel with a list of functions" \
    "fourth\.json:3:64: error: there are no functions in 'dynamic_func_names'" \
    's/"func_name": "twice"/"dynamic_func_names": ["twice"]/'
refused "text behind a description" \
    'fourth\.json:3:[0-9]*: error: expected the end of the text here' \
    '$s/$/ x/'
refused "a key that stands twice" \
    'fourth\.json:1:[0-9]*: error: this object has the key "blockDim" twice' \
    's/"blockDim": 8/"blockDim": 8, "blockDim": 9/'
refused "a key that stands twice, once with an escape" \
    'fourth\.json:1:[0-9]*: error: this object has the key "blockDim" twice' \
    's/"blockDim": 8/"blockDim": 8, "block\\u0044im": 9/'
refused "a name with a NUL" 'fourth\.json:1:20: error: a string cannot have a NUL' \
    's/"twice"/"twi\\u0000ce"/'
refused "a name that is empty" "fourth\.json:1:16: error: 'kernelName' must not be empty" \
    's/"kernelName": "twice"/"kernelName": ""/'
refused "a name that is a number" \
    "fourth\.json:1:16: error: 'kernelName' must be a string, not a number" \
    's/"kernelName": "twice"/"kernelName": 5/'
refused "a name that is not there" \
    "fourth\.json:1:1: error: this object has no 'kernelName', which is a string" \
    's/"kernelName": "twice", //'
for number in 1.5 -1 0 1025 1e30 8.0 99999999999999999999 true '"8"'; do
    what='must be a whole number from 1 to 1024'
    [[ $number == [t\"]* ]] && what='must be a number, not '
    refused "blockDim $number" "fourth\.json:1:37: error: 'blockDim' $what" \
        "s/\"blockDim\": 8/\"blockDim\": $number/"
done
refused "blockDim in quotes" \
    "fourth\.json:1:37: error: .* not a string without names: write it without quotes, or an" \
    's/"blockDim": 8/"blockDim": "8"/'
refused "a kernel type that there is not" \
    "fourth\.json:2:[0-9]*: error: unknown kernel type 'KERNEL_TYPE_AIV_OLNY'; KERNEL_" \
    's/KERNEL_TYPE_AIV_ONLY/KERNEL_TYPE_AIV_OLNY/'
for list in '1, "y"' '"", "y"' '"?", "y"' '"x**", "y"' '"x+", "y"' '"a b", "y"' '"1x", "y"' null; do
    refused "parameters $list" \
        "fourth\.json:2:26: error: a parameter is a string: a name of letters, digits and '_'," \
        "s/\"x\", \"y\"/$list/"
done
refused "a parameter that stands twice" "fourth\.json:2:31: error: the parameter 'x' stands twice" \
    's/"x", "y"/"x", "x?"/'
refused "parameters that are no list" \
    "fourth\.json:2:25: error: 'sub_operator_params' must be a list, not a string" \
    's/\["x", "y", "tiling"\]/"x"/'
refused "values within values" \
    'fourth\.json:1:[0-9]*: error: .\[. is unexpected here, or nested more than 1000 deep' \
    "1s/{/{\"more\": $(printf '[%.0s' {1..1100}), /"
refused "a list for a description" \
    "fourth\.json:1:1: error: this must be an object with 'kernelName', not a list" \
    '1s/^/[/; $s/$/]/'
refused "a tiling key that is none" \
    "fourth\.json:3:[0-9]*: error: '0x1' is no tiling key: it has up to 18 decimal digits" \
    's/"func_name": "twice"/"dynamic_func_names": {"0x1": {}}/'
truncate -s 65M "$own/large.json"
check_status 1 "a description that is too large" \
    "$SKIRC" check --kernel-dir="$own" "$scratch/neg.skir"
check_match "  and says so" 'large\.json:1:1: error: the text is larger than 64 MiB' \
    "$scratch/stderr"
rm "$own/large.json"
{
    printf '{"Long": {"operands": ["x"], "results": ["y"], "shape": ["1'
    printf '||1%.0s' {1..30000}
    printf '"]}}\n'
} >"$own/long.ops.json"
check_status 1 "a rule that is too long" "$SKIRC" check --kernel-dir="$own" "$scratch/neg.skir"
check_match "  and says so" 'a rule may have 4096 bytes' "$scratch/stderr"
rm "$own/long.ops.json"
check_status 1 "a folder that is not there is an error" \
    "$SKIRC" run --kernel-dir="$scratch/nowhere" "$scratch/neg.skir"
check_match "that names it" "cannot read the folder of kernels '.*nowhere'" "$scratch/stderr"

cp "$headers/skrt.h" "$scratch/twice"
cp "$own/twice.json" "$own/own.o" "$scratch/twice"
check_status 1 "a folder with skrt.h stands for the sample kernels" \
    "$SKIRC" run --kernel-dir="$scratch/twice" "$scratch/neg.skir"
check_match "which are not looked for then" "no sample kernel for 'Neg'" "$scratch/stderr"

# Descriptions of that folder are read when they are looked up.
describe thrice Add | sed 's/"x", "y"/"x1", "x2", "y"/' >"$scratch/twice/add.json"
describe thrice Neg | sed 's/8/-8/' >"$scratch/twice/neg.json"
describe twice Abs >"$scratch/twice/abs.json"
graph 'Abs(%x)' >"$scratch/lazy.skir"
check "a description that no op needs is not read" \
    "$SKIRC" check --kernel-dir="$scratch/twice" "$scratch/lazy.skir"
check_status 1 "one that cannot be read is an error for its op type" \
    "$SKIRC" check --kernel-dir="$scratch/twice" "$scratch/neg.skir"
check_match "with its place" "twice/neg\.json:1:[0-9]*: error: 'blockDim' must be a whole number" \
    "$scratch/stderr"
check "and nothing else" test "$(grep -c error: "$scratch/stderr")" = 1
mv "$scratch/twice/neg.json" "$scratch/twice/other.json"
check_status 1 "and for one that no other file describes" \
    "$SKIRC" check --kernel-dir="$scratch/twice" "$scratch/neg.skir"
check_match "with its place, too" "twice/other\.json:1:[0-9]*: error: 'blockDim' must be" \
    "$scratch/stderr"
mkdir "$scratch/dumped"
cat >"$scratch/dumped/graph.pbtxt" <<'END_DUMP'
node { name: "x" op: "Placeholder" attr { key: "dtype" value { type: DT_FLOAT } }
       attr { key: "shape" value { shape { dim { size: 4 } } } } }
node { name: "y" op: "Neg" input: "x" attr { key: "T" value { type: DT_FLOAT } } }
END_DUMP
check_status 1 "and for an import" \
    "$SKIRC" import --kernel-dir="$scratch/twice" "$scratch/dumped/graph.pbtxt"
check_match "which needs to know of it" "twice/other\.json:1:[0-9]*: error: 'blockDim' must be" \
    "$scratch/stderr"
mv "$scratch/twice/add.json" "$scratch/twice/sum.json"
rm "$scratch/twice/other.json"
check "a description may have any name" \
    "$SKIRC" check --kernel-dir="$scratch/twice" "$scratch/lazy.skir"
describe twice Twice >"$scratch/twice/add.json"
rm "$scratch/twice/twice.json"
check "one that is named after a type may describe another" \
    "$SKIRC" check --kernel-dir="$scratch/twice" "$scratch/lazy.skir"

graph 'Twice(%x) {stub}' >"$scratch/stub.skir"
check "an op that is a stub compiles" "$SKIRC" compile -o "$scratch/stub.o" "$scratch/stub.skir"
check_status 1 "and does not run" "$SKIRC" run "$scratch/stub.skir"
check_match "by name" 'stub.skir:[0-9:]*: error: this Twice is a stub' "$scratch/stderr"
tap_done
