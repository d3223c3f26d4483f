# Every source of a folder is in that folder's local.mk: what is not is neither built nor released.
source "${SKIR_SOURCE:?}/tests/tap.sh"
cd "$SKIR_SOURCE" || exit 99

# Generated sources are listed by the name of their product.
listed() # FILE FRAGMENT
{
    local name=${1%.re}
    name=${name%.y}
    case $1 in
    *.re | *.y) name=$name.c ;;
    backend/kernels/*.json | backend/kernels/*.c) name=${1%.*} ;;
    tests/unit/*.c | tests/fuzz/*.c) name=${1%.c} ;;
    esac
    grep -Eq "(^|[[:space:]])${name//./\\.}(\.[a-z]+)?([[:space:]]|\$)" "$2"
}

for folder in ir passes backend frontend tests docs; do
    missing=()
    while IFS= read -r file; do
        listed "$file" "$folder/local.mk" || missing+=("$file")
    done < <(find "$folder" \( -name '*.[chy]' -o -name '*.def' -o -name '*.re' -o -name '*.json' \
        -o -name '*.1' -o -name '*.md' -o -path 'tests/cli/*.sh' -o -path 'tests/cli/*.py' \
        -o -path 'tests/project/*.sh' -o -path 'tests/project/*.py' \) \
        ! -path 'docs/examples/*' ! -path 'tests/golden/*' ! -path 'tests/import/*' | sort)
    if [ "${#missing[@]}" -eq 0 ]; then
        tap_result ok "$folder/local.mk lists its files"
    else
        tap_result 'not ok' "$folder/local.mk lists its files"
        printf '# not listed: %s\n' "${missing[@]}"
    fi
done

tap_done
