# shellcheck shell=bash
# Puts together what every kind of package holds. $root, $carillon, $version, $output and the levels are the script's.

# What the program looks for beside itself.
resources=(Console Migrations Templates openapi.yaml openapi-faces.yaml)

# libraries PROGRAM: the paths of all libraries that a program is linked to, and of the loader.
libraries() {
    local found
    found=$(ldd "$1")
    if [[ $found == *'not found'* ]]; then die "a library of $1 is missing: $(grep 'not found' <<<"$found")"; fi
    awk '$2 == "=>" { print $3 } $1 ~ /^\// { print $1 }' <<<"$found"
}

# swift_runtime PROGRAM: the folder of Swift's own libraries.
swift_runtime() {
    local library
    library=$(libraries "$1" | grep '/libswiftCore\.so$') || die "$1 is not linked to Swift's libraries"
    printf '%s\n' "${library%/*}"
}

# stage_program FOLDER: the program, Swift's libraries, and what belongs beside them.
stage_program() {
    local folder=$1 runtime library
    runtime=$(swift_runtime "$carillon")
    mkdir -p "$folder"
    install --strip "$carillon" "$folder/carillon"
    while read -r library; do
        install -m 0644 "$library" "$folder/"
        strip --strip-unneeded "$folder/${library##*/}"
    done < <(libraries "$carillon" | grep "^$runtime/")
    forget_runtime "$folder/carillon" "$runtime"
    # Console holds a link to the client for web pages.
    (cd "$root" && cp -rL "${resources[@]}" "$folder/")
}

# forget_runtime PROGRAM RUNTIME: the program looks for libraries beside itself only, and not in the folder of a compiler, where
# those of another version may be. The text is replaced where it is, by a shorter one.
forget_runtime() {
    local program=$1 runtime=$2 padding
    padding=$(printf '\\x00%.0s' $(seq $((${#runtime} + 1))))
    LC_ALL=C sed --in-place "s|${runtime//./\\.}:\\\$ORIGIN\\x00|\$ORIGIN$padding\\x00|" "$program"
    readelf --dynamic "$program" | grep --quiet 'runpath: \[\$ORIGIN\]' ||
        die "$program does not look for its libraries beside itself alone"
}

# stage_papers FOLDER: what people read, and what alerts and dashboards are made of.
stage_papers() {
    mkdir -p "$1"
    (cd "$root" && cp -rL docs README.md CHANGELOG.md LICENSE "$1/" && cp -r packaging/prometheus packaging/grafana "$1/")
}

# even_out FOLDER: whoever made the files, all may read them and nobody but root may write.
even_out() {
    chmod -R u=rwX,go=rX "$1"
    find "$1" -exec touch --no-dereference --date="@$SOURCE_DATE_EPOCH" {} +
}

# roll FOLDER OPTION...: an archive of a folder on standard output that depends on nothing but what is in it.
roll() {
    tar --directory "$1" --create --sort=name --format=gnu --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 --numeric-owner "${@:2}"
}

make_tar() {
    local name
    name=carillon-$version-linux-$(uname -m)
    stage_program "$1/$name"
    stage_papers "$1/$name"
    cp -r "$root/packaging/systemd" "$root/.env.example" "$1/$name/"
    even_out "$1"
    made=$output/$name.tar.xz
    # With two threads it makes the same bytes on any number of processors.
    roll "$1" "$name" | xz --threads=2 "-$xz_level" >"$made"
}
