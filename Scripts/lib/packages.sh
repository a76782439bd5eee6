# shellcheck shell=bash
# Installs what the build and the embedded PostgreSQL need, on Debian and Ubuntu; elsewhere says what is missing.

# has_library NAME HEADER: whether pkg-config or the compiler can find a C library.
has_library() {
    if command -v pkg-config >/dev/null && pkg-config --exists "$1"; then return 0; fi
    [[ $2 != '' && -e /usr/include/$2 ]]
}

has_postgres_server() {
    local directory
    local -a directories
    IFS=: read -r -a directories <<<"$PATH"
    for directory in "${directories[@]}" /usr/lib/postgresql/*/bin; do
        if [[ -x $directory/postgres && -x $directory/initdb ]]; then return 0; fi
    done
    return 1
}

# Prints the Debian names of missing packages, a line each.
missing_packages() {
    command -v git >/dev/null || echo git
    command -v pkg-config >/dev/null || echo pkg-config
    has_library libpq '' || echo libpq-dev
    has_library openssl openssl/ssl.h || echo libssl-dev
    has_library zlib zlib.h || echo zlib1g-dev
    has_postgres_server || echo postgresql
}

# as_root COMMAND...: runs a command as root, through sudo when this is not root.
as_root() {
    if [[ $(id -u) == 0 ]]; then
        "$@"
    elif [[ -t 0 ]]; then
        sudo "$@"
    else
        sudo -n "$@"
    fi
}

can_be_root() {
    if [[ $(id -u) == 0 ]]; then return 0; fi
    command -v sudo >/dev/null || return 1
    [[ -t 0 ]] || sudo -n true 2>/dev/null
}

# install_packages NAME...: installs Debian packages, or says what to install by hand and gives up.
install_packages() {
    if ! command -v apt-get >/dev/null || ! can_be_root; then
        note "These are missing and cannot be installed from here (Debian's names): $*"
        note "Install them by hand, on Debian and Ubuntu as root with: apt-get install $*"
        die 'something is missing'
    fi
    say "Installing $*"
    as_root apt-get update -qq
    # Debian makes and starts a cluster on port 5432 when the server is installed; Carillon brings its own.
    local settings=/etc/postgresql-common/createcluster.d/carillon.conf
    as_root mkdir -p "${settings%/*}"
    as_root tee "$settings" <<<'create_main_cluster = false' >/dev/null
    local status=0
    as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
        -o DPkg::Lock::Timeout=300 "$@" >&2 || status=$?
    as_root rm -f "$settings"
    ((status == 0)) || die "apt-get could not install $*"
}

# require_packages: installs whatever is missing; does nothing, and asks for nothing, when all is there.
require_packages() {
    command -v swift >/dev/null || die 'Swift 6.2 or later is missing: https://www.swift.org/install has it'
    local -a missing
    mapfile -t missing < <(missing_packages)
    if ((${#missing[@]} > 0)); then install_packages "${missing[@]}"; fi
}

# has_pooler: whether there is a PgBouncer, which is where PATH need not lead.
has_pooler() {
    local directory
    for directory in /usr/sbin /usr/local/sbin /usr/bin /usr/local/bin /opt/homebrew/bin; do
        if [[ -x $directory/pgbouncer ]]; then return 0; fi
    done
    return 1
}

# require_pooler: installs a PgBouncer where there is none; fails, with a word, where it cannot be installed.
require_pooler() {
    if has_pooler; then return 0; fi
    if command -v apt-get >/dev/null && can_be_root && (install_packages pgbouncer) && has_pooler; then return 0; fi
    note 'pgbouncer is not here and cannot be installed: tests through a pooler are left out'
    return 1
}

# has_browser: whether there is a Chromium that starts; a package of Ubuntu's only says where to get one.
has_browser() {
    local browser
    for browser in chromium google-chrome chrome; do
        if command -v "$browser" >/dev/null && "$browser" --version >/dev/null 2>&1; then return 0; fi
    done
    return 1
}

# require_browser: installs a Chromium where there is none; fails, with a word, where it cannot be installed.
require_browser() {
    if has_browser; then return 0; fi
    if command -v apt-get >/dev/null && can_be_root && (install_packages chromium) && has_browser; then return 0; fi
    note 'no browser is here and none can be installed: what needs one is left out'
    return 1
}
