# shellcheck shell=bash
# Python tools, in an environment of their own under .build.

# require_python: installs Python where it is missing.
require_python() {
    if ! python3 -c 'import ensurepip, venv' 2>/dev/null; then install_packages python3 python3-venv; fi
}

# python_tool SCRIPT...: runs a script with the packages of the requirements.txt beside it, or else of those of Tests/Interop,
# in an environment of their own.
python_tool() {
    local folder=${1%/*}
    if [[ ! -e $folder/requirements.txt ]]; then folder=Tests/Interop; fi
    local environment=.build/python-${folder##*/} requirements=$folder/requirements.txt
    if ! cmp --silent "$requirements" "$environment/requirements.txt"; then
        rm -rf "$environment"
        python3 -m venv "$environment" || return
        "$environment/bin/pip" install --quiet --disable-pip-version-check -r "$requirements" || return
        cp "$requirements" "$environment/requirements.txt"
    fi
    "$environment/bin/python" "$@"
}
