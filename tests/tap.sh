# Helpers for shell tests; source it from a bash script:
#
#     source "${SKIR_SOURCE:?}/tests/tap.sh"
#     check "fmt accepts its own output" "$SKIRC" fmt --check "$scratch/a.skir"
#     check_status 2 "an unknown command is wrong usage" "$SKIRC" frobnicate
#     tap_done
#
# SKIRC and SKIR_SOURCE come from the makefile; `scratch` is an empty folder, removed at the end.
# Output of the last command: $scratch/stdout and $scratch/stderr.

set -uo pipefail

tap_cases=0
tap_failures=0
scratch=$(mktemp -d "${TMPDIR:-/tmp}/skir-test.XXXXXX") || exit 99
trap 'rm -rf -- "$scratch"' EXIT

tap_result() # VERDICT CLAIM
{
    tap_cases=$((tap_cases + 1))
    [ "$1" = ok ] || tap_failures=$((tap_failures + 1))
    printf '%s %d - %s\n' "$1" "$tap_cases" "$2"
}

# Passes if COMMAND ends with STATUS.
check_status() # STATUS CLAIM COMMAND...
{
    local wanted=$1 claim=$2 status
    shift 2
    "$@" >"$scratch/stdout" 2>"$scratch/stderr" </dev/null
    status=$?
    if [ "$status" -eq "$wanted" ]; then
        tap_result ok "$claim"
        return
    fi
    tap_result 'not ok' "$claim"
    printf '# exit status %d instead of %d from: %s\n' "$status" "$wanted" "$*"
    head -c 4000 "$scratch/stdout" "$scratch/stderr" | sed 's/^/# /'
}

# Passes if COMMAND succeeds.
check() # CLAIM COMMAND...
{
    check_status 0 "$@"
}

# Passes if FILE contains a match of the extended regular expression PATTERN.
check_match() # CLAIM PATTERN FILE
{
    if grep -Eq -e "$2" -- "$3"; then
        tap_result ok "$1"
        return
    fi
    tap_result 'not ok' "$1"
    printf '# no match for: %s\n' "$2"
    head -c 4000 -- "$3" | sed 's/^/# /'
}

tap_skip() # CLAIM REASON
{
    tap_cases=$((tap_cases + 1))
    printf 'ok %d - %s # SKIP %s\n' "$tap_cases" "$1" "$2"
}

tap_skip_all() # REASON
{
    printf '1..0 # SKIP %s\n' "$1"
    exit 0
}

tap_done()
{
    printf '1..%d\n' "$tap_cases"
    [ "$tap_failures" -eq 0 ]
    exit
}
