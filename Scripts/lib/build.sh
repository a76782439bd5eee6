# shellcheck shell=bash
# Builds the program.

# build_carillon CHECKOUT: builds with optimisation, and sets $carillon to the program.
build_carillon() {
    local -a options=(--package-path "$1" --configuration release --product carillon)
    carillon=$(swift build "${options[@]}" --show-bin-path)/carillon
    if [[ ! -x $carillon ]]; then
        say 'Building Carillon with optimisation: about 6 minutes on 2 cores the first time, seconds afterwards'
    fi
    # The reader of standard output gets what Carillon prints, nothing else.
    swift build "${options[@]}" >&2
}
