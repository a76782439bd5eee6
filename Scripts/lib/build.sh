# shellcheck shell=bash
# Builds the program.

# swift_build CHECKOUT CONFIGURATION OPTION...: builds. Optimised builds have a folder of their own: the package manager
# lets nobody build in one where tests run.
swift_build() {
    local folder=$1/.build configuration=$2
    if [[ $configuration == release ]]; then folder+=/optimised; fi
    swift build --package-path "$1" --scratch-path "$folder" --configuration "$configuration" "${@:3}"
}

# program_path CHECKOUT CONFIGURATION: prints where a build of the program is, or will be.
program_path() {
    printf '%s/carillon\n' "$(swift_build "$1" "$2" --show-bin-path)"
}

# build_carillon CHECKOUT CONFIGURATION: builds what is missing, and sets $carillon to the program.
build_carillon() {
    carillon=$(program_path "$1" "$2")
    if [[ ! -x $carillon ]]; then
        say 'Building Carillon for the first time: 5 to 10 minutes on 2 cores, seconds afterwards'
    fi
    # The reader of standard output gets what Carillon prints, nothing else.
    swift_build "$1" "$2" --product carillon >&2
}
