# The files of ir/optypes/ops as C: one row of op_data a type. In these files a type begins on a line
# of its own, in the third column, and no other line has a quote there.

BEGIN {
    print "#include \"ir/optypes/op_data.h\"\n\nconst struct op_data op_data[] = {"
}

FNR == 1 {
    family = FILENAME
    sub(/^.*\//, "", family)
    sub(/\.json$/, "", family)
}

/^  "/ {
    finish()
    split($0, parts, "\"")
    name = parts[2]
    sub(/^  "[^"]*": */, "")
    text = $0
    next
}

/^[{}]/ {
    finish()
    next
}

{
    text = text "\n" $0
}

function finish(    lines, count, i)
{
    if (name != "") {
        sub(/,$/, "", text)
        printf "    {\"%s\", \"%s\",", name, family
        count = split(text, lines, "\n")
        for (i = 1; i <= count; i++) {
            gsub(/"/, "\\\"", lines[i])
            printf "\n     \"%s\\n\"", lines[i]
        }
        print "},"
    }
    name = ""
}

END {
    print "    {0, 0, 0},\n};"
}
