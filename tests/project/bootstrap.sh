# ./bootstrap as far as it can be tried without building.
source "${SKIR_SOURCE:?}/tests/tap.sh"

check "--help explains" "$SKIR_SOURCE/bootstrap" --help
check_match "all four commands" '^usage: ./bootstrap deps\|build\|run\|check$' "$scratch/stdout"
check_status 2 "no command is wrong usage" "$SKIR_SOURCE/bootstrap"
check_match "with the usage on standard error" '^usage: ' "$scratch/stderr"
check_status 2 "an unknown command is wrong usage" "$SKIR_SOURCE/bootstrap" instal
check_status 2 "so are two commands" "$SKIR_SOURCE/bootstrap" build check
tap_done
