#!/bin/sh
# Builds, tests or runs a package of this repository, in a build folder that all of them share:
#
#   swift.sh build PACKAGE [OPTION of swift build]...
#   swift.sh test PACKAGE [OPTION of swift test]...
#   swift.sh run PACKAGE PROGRAM [ARGUMENT]...
#
# PACKAGE is a folder, `.` for the package at the root, which is built with all traits. Programs are built for release, or
# as the variable CONFIGURATION says.
set -eu
cd "$(dirname "$0")/.."
command=$1 package=$2
shift 2

# Runs a subcommand of `swift` for the package. Packages that share a build folder must not share a cached plan: SwiftPM
# would build the previous package again.
swift_() {
    subcommand=$1
    shift
    [ "$package" != . ] || set -- --traits Packs,NIO,Gateway,Redis "$@"
    "${SWIFT:-swift}" "$subcommand" --disable-build-manifest-caching --scratch-path "$PWD/.build/make" \
        --package-path "$package" "$@"
}

# SwiftPM keeps the traits of a package in a set, and passes them to the compiler in the order of that set. The variable
# keeps the order the same in each run: the compiler would otherwise get other options in most of them, and compile
# everything again. The traits above and those in the manifests of the other packages are written such that all get the
# same order, so that a target is compiled once for all packages. Tests and programs run without the variable.
build() { SWIFT_DETERMINISTIC_HASHING=1 swift_ build "$@"; }

case $command in
build) build "$@" ;;
test)
    build --build-tests
    swift_ test --skip-build "$@"
    ;;
run)
    program=$1
    shift
    configuration=${CONFIGURATION:-release}
    build --quiet --configuration "$configuration" --product "$program"
    exec "$(build --configuration "$configuration" --show-bin-path)/$program" "$@"
    ;;
esac
