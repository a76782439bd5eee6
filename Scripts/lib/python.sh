# shellcheck shell=bash
# Python tools, in an environment of their own under .build.

# require_python: installs Python where it is missing.
require_python() {
    if ! python3 -c 'import ensurepip, venv' 2>/dev/null; then install_packages python3 python3-venv; fi
}

# python_environment SCRIPT: an environment of its own with the packages that a script needs, which stand beside it: in
# NAME.requirements.txt for NAME.py, or else in its folder's requirements.txt, or else in that of Tests/Interop. Sets $environment.
python_environment() {
    local requirements=${1%.py}.requirements.txt
    if [[ ! -e $requirements ]]; then requirements=${1%/*}/requirements.txt; fi
    if [[ ! -e $requirements ]]; then requirements=Tests/Interop/requirements.txt; fi
    environment=${requirements%requirements.txt}
    environment=${environment%[./]}
    environment=.build/python-${environment##*/}
    if cmp --silent "$requirements" "$environment/requirements.txt"; then return; fi
    rm -rf "$environment"
    python3 -m venv "$environment" || return
    "$environment/bin/pip" install --quiet --disable-pip-version-check -r "$requirements" || return
    cp "$requirements" "$environment/requirements.txt"
}

# python_tool SCRIPT...: runs a script in the environment that it needs.
python_tool() {
    local environment
    python_environment "$1" || return
    "$environment/bin/python" "$@"
}

# check_if_installed PACKAGE NAME SCRIPT: runs a script as a check, which is left out only where its package cannot be installed.
check_if_installed() {
    local environment
    if python_environment "$3"; then
        check "$2" python_tool "$3"
    else
        note "$2: left out, as $1 cannot be installed here"
    fi
}
