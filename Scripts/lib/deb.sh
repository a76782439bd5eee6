# shellcheck shell=bash
# A package for Debian and Ubuntu.

# newest_symbol FILE...: the C library that all of them find their symbols in.
newest_symbol() {
    objdump --dynamic-syms "$@" | grep --only-matching 'GLIBC_[0-9.]*' | sort --unique --version-sort | tail -1 | cut -d_ -f2
}

# stage_completions FOLDER: what shells complete, where they look for it.
stage_completions() {
    local shell path
    for path in bash:bash-completion/completions/carillon zsh:zsh/vendor-completions/_carillon \
        fish:fish/vendor_completions.d/carillon.fish; do
        shell=${path%%:*}
        mkdir -p "$(dirname "$1/${path#*:}")"
        "$carillon" completions "$shell" >"$1/${path#*:}"
    done
}

# stage_configuration FOLDER: the settings that the unit reads, all with their defaults, as in .env.example.
stage_configuration() {
    mkdir -p "$1/etc/carillon"
    {
        cat "$root/packaging/debian/carillon.env.head"
        sed '1,/^$/d' "$root/.env.example"
    } >"$1/etc/carillon/carillon.env"
}

make_deb() {
    local tree=$1 library=$1/usr/lib/carillon papers=$1/usr/share/doc/carillon architecture script
    command -v dpkg-deb >/dev/null || die 'dpkg-deb is missing: packages for Debian are made on Debian or Ubuntu'
    architecture=$(dpkg --print-architecture)
    stage_program "$library"
    mkdir -p "$tree/usr/bin" "$tree/usr/lib/systemd/system"
    ln -s ../lib/carillon/carillon "$tree/usr/bin/carillon"
    # One unit for all ways to install: here its folders are Debian's.
    sed 's|/opt/carillon/docs|/usr/share/doc/carillon/docs|; s|/opt/carillon|/usr/lib/carillon|' \
        "$root/packaging/systemd/carillon.service" >"$tree/usr/lib/systemd/system/carillon.service"
    stage_completions "$tree/usr/share"
    stage_papers "$papers"
    mv "$papers/LICENSE" "$papers/copyright"
    gzip --best --no-name "$papers/CHANGELOG.md"
    stage_configuration "$tree"
    even_out "$tree"
    # Passwords and keys may stand there.
    chmod 0750 "$tree/etc/carillon" && chmod 0600 "$tree/etc/carillon/carillon.env"

    mkdir "$tree/DEBIAN"
    sed "s/@VERSION@/$version/; s/@ARCHITECTURE@/$architecture/; s/@SIZE@/$(du -sk "$tree" | cut -f1)/
        s/@LIBC@/$(newest_symbol "$library"/carillon "$library"/*.so)/" "$root/packaging/debian/control" >"$tree/DEBIAN/control"
    echo /etc/carillon/carillon.env >"$tree/DEBIAN/conffiles"
    cp "$root/packaging/debian/templates" "$tree/DEBIAN/templates"
    for script in postinst prerm postrm; do install -m 0755 "$root/packaging/debian/$script" "$tree/DEBIAN/$script"; done
    (cd "$tree" && find . -type f -not -path './DEBIAN/*' -printf '%P\0' | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
    chmod 0755 "$tree/DEBIAN" && chmod 0644 "$tree"/DEBIAN/{control,conffiles,templates,md5sums}
    find "$tree" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
    made=$output/carillon_${version}_$architecture.deb
    dpkg-deb --root-owner-group -Zxz "-z$xz_level" --build "$tree" "$made" >/dev/null
}
