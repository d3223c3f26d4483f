# The descriptions of the sample kernels: NAME.json in the folder `out` for each row of
# sample_kernels.def, which stands behind the files of ir/optypes/ops among the arguments. With `rows` set
# it prints NAME:SOURCE of each instead, and needs no other file.

FILENAME ~ /\.json$/ && /^  "/ {
    split($0, parts, "\"")
    type = parts[2]
}

FILENAME ~ /\.json$/ {
    data[type] = data[type] " " $0
    next
}

/^KERNEL\(/ || /^$/ {
    finish()
    row = ""
}

{
    row = row " " $0
}

END {
    finish()
}

# The names of the list behind a key of a type's data, quoted, in names[1] on.
function list(type, key, names,    text, count)
{
    text = data[type]
    if (!match(text, "\"" key "\": *\\[[^]]*\\]"))
        return 0
    text = substr(text, RSTART, RLENGTH)
    sub(/^[^[]*\[ */, "", text)
    sub(/ *\]$/, "", text)
    return text == "" ? 0 : split(text, names, / *, */)
}

# The number in `word(NUMBER)` of the row; 0 where there is none.
function number(word,    text)
{
    if (!match(row, word "\\([0-9]+\\)"))
        return 0
    text = substr(row, RSTART + length(word) + 1, RLENGTH)
    return text + 0
}

# A result that has the name of an operand is a parameter of its own.
function result_name(name, operands, n,    i)
{
    for (i = 1; i <= n; i++)
        if (operands[i] == name)
            return "\"y\""
    return name
}

# A list that the row says may be empty, or of which it says nothing, is one that may be left out.
function parameter(operand,    name, rule)
{
    name = operand
    if (!sub(/\*"$/, "\"", name))
        return operand
    rule = index(row, "TENSOR(" name)
    if (rule && substr(row, rule) !~ /^[^)]*\.optional = true/)
        return operand
    return substr(operand, 1, length(operand) - 1) "?\""
}

function params(type,    operands, results, n, m, i, text)
{
    n = list(type, "operands", operands) - number("WITHOUT_OPERANDS")
    m = list(type, "results", results) - number("WITHOUT_RESULTS")
    for (i = 1; i <= n; i++)
        text = text parameter(operands[i]) ", "
    if (row ~ /MANY_RESULTS/ && sub(/\*"$/, "+\"", results[1]))
        return text "\"tiling\", " results[1]
    for (i = 1; i <= m; i++)
        text = text result_name(results[i], operands, n) ", "
    return text (number("WORKSPACE") ? "\"workspace\", " : "") "\"tiling\""
}

function part(core, name, suffix)
{
    return "    \"" core "\": {\"func_name\": \"" name suffix "\", \"obj_files\": \"" name ".o\"}"
}

function functions(name, cores)
{
    if (cores !~ /^MIX/)
        return part("AiCore", name, "")
    return part("dav-c220-cube", name, "_mix_aic") ",\n" part("dav-c220-vec", name, "_mix_aiv")
}

function finish(    fields, name, file)
{
    if (row !~ /^ KERNEL\(/)
        return
    sub(/^ KERNEL\(/, "", row)
    split(row, fields, / *, */)
    name = fields[1]
    if (rows) {
        print name ":" fields[3]
        return
    }
    file = out "/" name ".json"
    if (!(fields[2] in data)) {
        print "sample_kernels.def: ir/optypes/ops has no " fields[2] | "cat >&2"
        exit 1
    }
    print "{\n  \"kernelName\": \"" name "\",\n  \"blockDim\": " fields[5] "," >file
    print "  \"sub_operator_op_type\": \"" fields[2] "\"," >file
    print "  \"sub_operator_params\": [" params(fields[2]) "]," >file
    print "  \"sub_operator_kernel_type\": \"KERNEL_TYPE_" fields[4] "\"," >file
    print "  \"sub_operator_kernel_name\": {\n" functions(name, fields[4]) "\n  }," >file
    if (number("WORKSPACE"))
        print "  \"skir_workspace\": {\"bytes_per_element_of_result\": " \
            number("WORKSPACE") "}," >file
    print "  \"sub_op_with_sync_all\": false,\n  \"sub_operator_early_start_set_flag\": false," >file
    print "  \"sub_operator_early_start_wait_flag\": false\n}" >file
    close(file)
}
