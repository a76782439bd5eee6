# shellcheck shell=bash
# What the scripts say, on standard error: standard output belongs to the programs that they run.

say() {
    printf '==> %s\n' "$*" >&2
}

note() {
    printf '    %s\n' "$*" >&2
}

die() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}
