#!/bin/sh
# Builds, tests or runs a package of this repository, in a build folder that all of them share:
#
#   swift.sh build PACKAGE [OPTION of swift build]...
#   swift.sh test PACKAGE [OPTION]...      options of `swift test` that select tests, such as --filter
#   swift.sh run PACKAGE PROGRAM [ARGUMENT]...
#
# PACKAGE is a folder; `.` is the package at the root, which is built with all traits. `build` and `test` build for
# debugging; `run` builds PROGRAM for release, or as the variable CONFIGURATION says. With the variable BUILT, everything
# is up to date, and nothing is built: to find that out takes SwiftPM several seconds each time.
set -eu
cd "$(dirname "$0")/.."
# As in the makefile: another value would compile everything again.
export WAYSTATION_WARNINGS_AS_ERRORS=1
command=$1 package=$2
shift 2

# Runs a subcommand of `swift` for the package. Packages that share a build folder must not share a cached plan: SwiftPM
# would build the previous package again.
swift_() {
    subcommand=$1
    shift
    case "$package $* " in
    ". "*) set -- --traits NIO,AsyncHTTPClient,Configuration,Gateway,Redis,Tracing "$@" ;;
    "Examples/Crawler "*) set -- --traits NIO "$@" ;;
    "Benchmarks "*" release "*) set -- --traits SwiftCrypto "$@" ;;
    esac
    "${SWIFT:-swift}" "$subcommand" --disable-build-manifest-caching --scratch-path "$PWD/.build/make" \
        --package-path "$package" "$@"
}

# SwiftPM keeps the traits of a package in a set, and passes them to the compiler in the set's order, which is another one
# in each run. The compiler would then get other options, and compile everything again. SWIFT_DETERMINISTIC_HASHING keeps
# the order the same. The order in which the traits are written, above and in the other manifests, gives the same result
# for all packages: change it in all places or in none. Tests and programs run without the variable.
#
# A debug build compiles each module as a whole, in one process, and has no debug information but the lines for backtraces.
# The compiler does not check its own output (LLVM's verifier), and the index leaves out the modules of the system. From
# nothing, this takes two fifths less of the processor's time. A release build compiles whole modules in any case.
build() {
    case "${BUILT:+built} $* " in
    built*) return ;;
    *" release "*) ;;
    *)
        set -- -Xswiftc -wmo -Xswiftc -num-threads -Xswiftc 2 -Xswiftc -disable-batch-mode \
            -debug-info-format none -Xswiftc -gline-tables-only \
            -Xswiftc -no-emit-module-separately-wmo -Xswiftc -Xfrontend -Xswiftc -disable-llvm-verify \
            -Xswiftc -index-ignore-system-modules "$@"
        ;;
    esac
    SWIFT_DETERMINISTIC_HASHING=1 swift_ build "$@"
}

case $command in
build) build "$@" ;;
test)
    build --build-tests
    # `swift test` would plan the whole build once more. It runs the same program: first for XCTest, then for Swift Testing.
    name=$(sed -n 's/^    name: "\(.*\)",$/\1/p' "$package/Package.swift" | head -n 1)
    tests=$PWD/.build/make/debug/${name}PackageTests.xctest
    # Swift Testing also writes colours into a pipe.
    [ -t 1 ] || export NO_COLOR=1
    "$tests"
    exec "$tests" --testing-library swift-testing "$@"
    ;;
run)
    program=$1
    shift
    configuration=${CONFIGURATION:-release}
    build --quiet --configuration "$configuration" --product "$program"
    exec "$PWD/.build/make/$configuration/$program" "$@"
    ;;
*)
    echo "swift.sh: the first word must be build, test or run, not $command" >&2
    exit 2
    ;;
esac
