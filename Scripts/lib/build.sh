# shellcheck shell=bash
# Builds the program.

# program_path CHECKOUT CONFIGURATION: prints where a build of the program is, or will be.
program_path() {
    printf '%s/carillon\n' "$(swift build --package-path "$1" --configuration "$2" --show-bin-path)"
}

# build_carillon CHECKOUT CONFIGURATION: builds what is missing, and sets $carillon to the program.
build_carillon() {
    carillon=$(program_path "$1" "$2")
    if [[ ! -x $carillon ]]; then
        say 'Building Carillon for the first time: 5 to 10 minutes on 2 cores, seconds afterwards'
    fi
    # The reader of standard output gets what Carillon prints, nothing else.
    swift build --package-path "$1" --configuration "$2" --product carillon >&2
}
