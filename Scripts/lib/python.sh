# shellcheck shell=bash
# Python tools, in an environment of their own under .build.

# require_python: installs Python where it is missing.
require_python() {
    if ! python3 -c 'import ensurepip, venv' 2>/dev/null; then install_packages python3 python3-venv; fi
}
