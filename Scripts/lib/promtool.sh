# shellcheck shell=bash
# Prometheus' tool that reads and plays alerts.

# fetch_promtool: puts Debian's promtool under .build/tools where there is none. The package is not installed: it would
# start a server. Without apt-get, or when that has no package lists, the check that needs the tool says so.
fetch_promtool() {
    local tools=.build/tools folder
    if command -v promtool >/dev/null || [[ -x $tools/usr/bin/promtool ]]; then return; fi
    if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then return; fi
    folder=$(mktemp -d)
    chmod 755 "$folder"
    mkdir -p "$tools"
    if (cd "$folder" && apt-get download -qq prometheus) >/dev/null 2>&1; then
        dpkg-deb --fsys-tarfile "$folder"/prometheus_*.deb | tar -x -C "$tools" ./usr/bin/promtool ||
            note 'promtool cannot be unpacked'
    fi
    rm -rf "$folder"
}
