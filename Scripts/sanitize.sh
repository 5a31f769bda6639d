#!/bin/sh
# Runs the tests of the targets that read bytes from outside under the address sanitizer: archive, HTTP, storage and
# packs.
#
#   sanitize.sh [ARGUMENT…]         arguments of `swift test`, such as --filter
#
# The sanitizer needs a build of its own. A manifest without the other test targets saves most of the building.

set -eu
cd "$(dirname "$0")/.."
root=$PWD
package=$root/.build/sanitized
targets='"WaystationArchiveTests", "WaystationHTTPTests", "WaystationStorageTests", "WaystationPacksTests"'

mkdir -p "$package"
for folder in Sources Tests; do ln -sfn "$root/$folder" "$package/$folder"; done
{
    cat "$root/Package.swift"
    printf '\nlet sanitized = [%s]\n' "$targets"
    # Without the assertion, the tests of a missing target would be left out without an error.
    printf 'package.targets.removeAll { $0.type == .test && !sanitized.contains($0.name) }\n'
    printf 'assert(package.targets.count { $0.type == .test } == sanitized.count)\n'
} >"$package/Package.swift.new"
cmp -s "$package/Package.swift.new" "$package/Package.swift" || mv "$package/Package.swift.new" "$package/Package.swift"
rm -f "$package/Package.swift.new"

# Leaks are not reported, since Foundation itself leaks. An interactive backtrace would wait for a debugger.
export SWIFT_BACKTRACE=enable=no ASAN_OPTIONS=detect_leaks=0
exec "$root/Scripts/run-tests.py" "${SWIFT:-swift}" test --sanitize=address --package-path "$package" \
    --scratch-path "$root/.build/sanitize" "$@"
