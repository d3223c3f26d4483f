# tests/tap-run: what the summary counts must be what the tests said.
source "${SKIR_SOURCE:?}/tests/tap.sh"

tap_run()
{
    sh "$SKIR_SOURCE/tests/tap-run" bash -c "$1"
}

check "a passing program passes" tap_run 'echo 1..1; echo ok 1 - a'
check_match "its plan is kept" '^1\.\.1$' "$scratch/stdout"

check "two groups become one plan" \
    tap_run 'echo 1..1; echo ok 1 - a; echo 1..2; echo ok 1; echo ok 2'
check_match "with all cases" '^1\.\.3$' "$scratch/stdout"
check_match "numbered through" '^ok 2$' "$scratch/stdout"

check "a status that repeats reported failures is 0" tap_run 'echo 1..1; echo not ok 1 - a; exit 1'
check_match "and the failure stays" '^not ok 1 - a$' "$scratch/stdout"
check_status 3 "a status without a reported failure stays" tap_run 'echo 1..1; echo ok 1; exit 3'
check_status 134 "a crash stays" tap_run 'echo 1..2; echo not ok 1; kill -ABRT $$'
check "a skipped program passes" tap_run 'echo "1..0 # SKIP no reason"'
check_match "with its reason" '^1\.\.0 # SKIP no reason$' "$scratch/stdout"
check "a case that cmocka skips passes" tap_run 'echo 1..1; echo "not ok 1 # SKIP test_x"'
check_match "as skipped" '^ok 1 # SKIP test_x$' "$scratch/stdout"

TEST_TIMEOUT=1
export TEST_TIMEOUT
check_status 124 "a program that does not end is ended" tap_run 'echo 1..1; sleep 60'
check_match "and the log says so" 'no end after 1 seconds' "$scratch/stdout"

tap_done
