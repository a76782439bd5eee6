# shellcheck shell=bash
# The release before this one, which packaging/former-release names.

# build_former_release CHECKOUT: builds the former release's program beside the checkout's own, in .build/former. Sets $former to
# where it is.
build_former_release() {
    local commit carillon
    commit=$(sed -n 's/^commit //p' "$1/packaging/former-release")
    former=$1/.build/former
    if [[ $(cat "$former/.commit" 2>/dev/null) != "$commit" ]]; then
        if ! git -C "$1" cat-file -e "$commit^{commit}" 2>/dev/null; then
            note "The former release, $commit, is not in this clone: git fetch origin $commit"
            return 1
        fi
        rm -rf "$former"
        mkdir -p "$former"
        git -C "$1" archive "$commit" | tar -x -C "$former" || return
        # The same dependencies, where the release does not name its own.
        if [[ ! -e $former/Package.resolved ]]; then cp "$1/Package.resolved" "$former" || return; fi
        echo "$commit" >"$former/.commit"
    fi
    build_carillon "$former" debug
}
