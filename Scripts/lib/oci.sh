# shellcheck shell=bash
# An image that is made of files alone: a folder as the OCI's image layout wants it, in an archive.
# https://github.com/opencontainers/image-spec/blob/main/image-layout.md

image_user=10001

# stage_system FOLDER: what a root file system needs for the program: the C library and what else it is linked to, from where
# they are here, certificates, time zones, and names of users.
stage_system() {
    local tree=$1 runtime library package
    runtime=$(swift_runtime "$carillon")
    while read -r library; do
        mkdir -p "$tree${library%/*}"
        cp -L "$library" "$tree$library"
        # Their licences go along.
        package=$(dpkg-query --search "*/${library##*/}" 2>/dev/null | head -1 | cut -d: -f1 || true)
        if [[ $package != '' && -e /usr/share/doc/$package/copyright ]]; then
            install -D -m 0644 "/usr/share/doc/$package/copyright" "$tree/usr/share/doc/$package/copyright"
        fi
    done < <(libraries "$carillon" | grep --invert-match "^$runtime/")
    mkdir -p "$tree"/{dev,proc,sys,etc/ssl/certs,usr/lib/ssl,usr/share}
    cp -L /etc/ssl/certs/ca-certificates.crt "$tree/etc/ssl/certs/"
    ln -s /etc/ssl/certs/ca-certificates.crt "$tree/usr/lib/ssl/cert.pem"
    cp -a /usr/share/zoneinfo "$tree/usr/share/"
    rm -rf "$tree"/usr/share/zoneinfo/{posix,right,localtime}
    printf 'root:x:0:0:root:/root:/sbin/nologin\ncarillon:x:%d:%d:Carillon:/var/lib/carillon:/sbin/nologin\n' \
        "$image_user" "$image_user" >"$tree/etc/passwd"
    printf 'root:x:0:\ncarillon:x:%d:\n' "$image_user" >"$tree/etc/group"
    echo 'hosts: files dns' >"$tree/etc/nsswitch.conf"
}

# digest FILE: its name in an image.
digest() {
    sha256sum "$1" | cut -d' ' -f1
}

# blob FOLDER FILE TYPE: moves a file to where an image keeps it; prints what others say of it.
blob() {
    local name size
    name=$(digest "$2")
    size=$(stat --format=%s "$2")
    mv "$2" "$1/blobs/sha256/$name"
    printf '{"mediaType":"application/vnd.oci.image.%s","digest":"sha256:%s","size":%d}' "$3" "$name" "$size"
}

# image_configuration DIFF: how the image is run; as .docker/Dockerfile says.
image_configuration() {
    local architecture=$1 diff=$2 created
    created=$(date --utc --date="@$SOURCE_DATE_EPOCH" +%Y-%m-%dT%H:%M:%SZ)
    cat <<END
{"created":"$created","architecture":"$architecture","os":"linux","config":{"User":"$image_user:$image_user",
"ExposedPorts":{"8080/tcp":{},"9090/tcp":{}},"Env":["PATH=/opt/carillon","CARILLON_LISTEN=0.0.0.0:8080",
"CARILLON_MANAGEMENT_LISTEN=0.0.0.0:9090","CARILLON_DATA_DIR=/var/lib/carillon","CARILLON_LOG_FORMAT=json"],
"Entrypoint":["/opt/carillon/carillon"],"Cmd":["serve"],"WorkingDir":"/opt/carillon","StopSignal":"SIGTERM",
"Labels":{"org.opencontainers.image.title":"Carillon","org.opencontainers.image.version":"$version",
"org.opencontainers.image.licenses":"Apache-2.0"}},"rootfs":{"type":"layers","diff_ids":["sha256:$diff"]},
"history":[{"created":"$created","created_by":"Scripts/package oci"}]}
END
}

make_oci() {
    local tree=$1/root image=$1/image layer=$1/layer architecture configuration manifest
    command -v zstd >/dev/null || die 'zstd is missing: apt-get install zstd'
    case $(uname -m) in
        x86_64) architecture=amd64 ;;
        aarch64) architecture=arm64 ;;
        *) architecture=$(uname -m) ;;
    esac
    stage_system "$tree"
    stage_program "$tree/opt/carillon"
    cp "$root/LICENSE" "$tree/opt/carillon/"
    even_out "$tree"
    mkdir -p "$image/blobs/sha256"
    roll "$tree" . >"$layer"
    # Two folders are not root's alone.
    mkdir -p "$1/own/var/lib/carillon" "$1/own/tmp"
    chmod 0700 "$1/own/var/lib/carillon" && chmod 1777 "$1/own/tmp"
    tar --directory "$1/own" --append --file "$layer" --format=gnu --mtime="@$SOURCE_DATE_EPOCH" --numeric-owner \
        --owner="$image_user" --group="$image_user" ./var/lib/carillon
    tar --directory "$1/own" --append --file "$layer" --format=gnu --mtime="@$SOURCE_DATE_EPOCH" --numeric-owner \
        --owner=0 --group=0 ./tmp
    image_configuration "$architecture" "$(digest "$layer")" >"$1/configuration"
    zstd --quiet --rm "-$zstd_level" --threads=2 "$layer" -o "$layer.zst"
    configuration=$(blob "$image" "$1/configuration" config.v1+json)
    layer=$(blob "$image" "$layer.zst" layer.v1.tar+zstd)
    printf '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.manifest.v1+json","config":%s,"layers":[%s]}' \
        "$configuration" "$layer" >"$1/manifest"
    manifest=$(blob "$image" "$1/manifest" manifest.v1+json)
    manifest=${manifest%\}}',"platform":{"architecture":"'$architecture'","os":"linux"},'
    manifest+='"annotations":{"org.opencontainers.image.ref.name":"'$version'","io.containerd.image.name":"docker.io/library/carillon:'$version'"}}'
    printf '{"schemaVersion":2,"mediaType":"application/vnd.oci.image.index.v1+json","manifests":[%s]}' "$manifest" >"$image/index.json"
    printf '{"imageLayoutVersion":"1.0.0"}' >"$image/oci-layout"
    even_out "$image"
    made=$output/carillon-$version-oci-$architecture.tar
    roll "$image" blobs index.json oci-layout >"$made"
}
