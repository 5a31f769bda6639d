#!/bin/sh
# Parses the sources as for macOS and for a Linux with musl, with all traits, and checks which system modules they import
# there. Neither system's own modules are here, so nothing is compiled for them.

set -eu
cd "$(dirname "$0")/.."
modules=$(mktemp -d)
trap 'rm -rf "$modules"' EXIT

# check TARGET MODULE… — the system modules that exist on a target; no others may be imported.
check() {
    target=$1
    shift
    rm -rf "${modules:?}"/*
    for module in "$@"; do
        mkdir "$modules/$module"
        echo "module $module {}" >"$modules/$module/module.modulemap"
    done
    # The steps of tutorials are programs for this system.
    find Sources -name '*.docc' -prune -o -name '*.swift' -print >"$modules/files"
    # The empty resource folder and SDK hide the modules of this machine from `canImport`.
    "${SWIFT:-swift}c" -frontend -emit-imported-modules -target "$target" -swift-version 6 -suppress-warnings -enable-bare-slash-regex \
        -sdk "$modules" -resource-dir "$modules" $(printf -- '-I %s ' "$modules"/*/) \
        -D NIO -D Gateway -D Redis -module-name Sources "@$modules/files" -o "$modules/imports"
    for module in Glibc Musl Darwin FoundationNetworking; do
        found=$(grep -cx "$module" "$modules/imports") || true
        expected=0
        case " $* " in *" $module "*) expected=1 ;; esac
        if [ "$found" -ne "$expected" ]; then
            echo "$target: a source file imports $module although it does not exist there, or none imports it although" \
                "it does; write #if canImport($module) around the import" >&2
            exit 1
        fi
    done
    echo "$target: the sources parse, and import $(grep -cv '^Waystation' "$modules/imports") modules of others"
}

check arm64-apple-macosx15.0 Darwin
check x86_64-swift-linux-musl Musl FoundationNetworking
