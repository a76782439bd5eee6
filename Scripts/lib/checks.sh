# shellcheck shell=bash
# Runs checks one after the other and counts them.

passed=0
failed=0
last_status=0

# check NAME COMMAND...: runs a command and counts it as one check.
check() {
    local name=$1 started=$SECONDS
    shift
    say "$name"
    last_status=0
    "$@" || last_status=$?
    if ((last_status == 0)); then passed=$((passed + 1)); else failed=$((failed + 1)); fi
    note "$name: $( ((last_status == 0)) && echo passed || echo FAILED) ($((SECONDS - started)) s)"
}

last_check_passed() {
    ((last_status == 0))
}

# count_in_report TAG REPORT: how often a tag stands in the files of a report; 0 where there are none.
count_in_report() {
    { grep -ho "$1" "$2"*.xml 2>/dev/null || true; } | wc -l
}

# run_tests NAME OPTION...: runs tests that are built already and counts each of them; shows suites and failures, and
# leaves everything in .build/test-report.log.
run_tests() {
    local name=$1 started=$SECONDS report=.build/test-report
    shift
    say "$name"
    rm -f "$report"*.xml
    last_status=0
    swift test --skip-build --xunit-output "$report.xml" "$@" 2>&1 | tee "$report.log" |
        { grep --line-buffered --extended-regexp '^(✘|↳|✔ Suite|✔ Test run|kill -9|GOAWAY|beside|error:|Fatal|(WARNING|SUMMARY): ThreadSanitizer)' || true; } ||
        last_status=$?
    local total failures
    total=$(count_in_report '<testcase ' "$report")
    failures=$(count_in_report '<failure' "$report")
    # A run that ends without a report, such as a crash, is a failure of its own.
    if ((last_status != 0 && failures == 0)) || ((total == 0)); then
        failures=$((failures + 1))
        total=$((total + 1))
    fi
    passed=$((passed + total - failures))
    failed=$((failed + failures))
    note "$name: $((total - failures)) passed, $failures failed ($((SECONDS - started)) s)"
}

# finish_checks: prints the sum and ends the script.
finish_checks() {
    printf '%d passed, %d failed\n' "$passed" "$failed"
    ((failed == 0)) && exit 0
    exit 1
}
