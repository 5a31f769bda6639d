#!/usr/bin/env bash
# Builds packages that depend on this one by a git URL: check-consumers.sh [--everything]
# The folder of the repository is not named after the package, and its name has characters that no package identity has.
# The first package, by SwiftPM's own build system, caches in its app and stubs in its tests: packs must not be built for
# it, and an app that uses them all the same gets the errors that the documentation names. The second one, by Swift Build,
# uses two libraries without the interceptor. All libraries are resolved and planned for it; with --everything both build systems also build
# all of them, which takes minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
swift=${SWIFT:-swift}

# The variable is only for the project's own checks: a consumer does not set it.
unset WAYSTATION_WARNINGS_AS_ERRORS

work=$PWD/.build/consumers
rm -rf "$work"
mkdir -p "$work"

# Makes a repository with one commit of the current files of the checkout, committed or not.
repository="$work/someone's fork (2)"
mkdir "$repository"
git ls-files -z --cached --others --exclude-standard |
    while IFS= read -r -d '' file; do [ ! -e "$file" ] || printf '%s\0' "$file"; done |
    tar --create --null --files-from=- | tar --extract --directory "$repository"
git init --quiet --initial-branch main "$repository"
git -C "$repository" add --all
git -C "$repository" -c user.name=consumer -c user.email=consumer@example -c commit.gpgsign=false \
    commit --quiet --message "The checkout"

# The libraries of `App`: one without a C library, and one with three.
libraries=$(sed -n 's/.*\.library(name: "\([^"]*\)".*/\1/p' Package.swift)
product() { echo "                .product(name: \"$1\", package: \"${repository##*/}\"),"; }
mkdir -p "$work/consumer/Sources/App" "$work/consumer/Sources/Everything"
{
    cat <<-MANIFEST
		// swift-tools-version: 6.2
		import PackageDescription

		let package = Package(
		    name: "consumer",
		    dependencies: [.package(url: "file://$repository", branch: "main")],
		    targets: [
		        .executableTarget(
		            name: "App",
		            dependencies: [
		$(for library in WaystationHTTP WaystationArchive; do product "$library"; done)
		            ]
		        ),
		        .executableTarget(
		            name: "Everything",
		            dependencies: [
		$(for library in $libraries; do product "$library"; done)
		            ]
		        ),
		    ]
		)
	MANIFEST
} >"$work/consumer/Package.swift"
mkdir -p "$work/lean/Sources/App" "$work/lean/Sources/Lean" "$work/lean/Tests/LeanTests"
tee "$work/lean/Sources/App/main.swift" >"$work/consumer/Sources/App/main.swift" <<'SWIFT'
import WaystationArchive
import WaystationHTTP

let pattern = try URLPattern("https://shop.example/app/**")
let isTaken = CanonicalURL("https://SHOP.example/app/index.html").map(pattern.matches) ?? false
print(isTaken ? "taken" : "not taken", CachingRules(), ZipLimits())
SWIFT
echo "@main enum Everything { static func main() {} }" >"$work/consumer/Sources/Everything/Everything.swift"

cat >"$work/lean/Package.swift" <<-MANIFEST
	// swift-tools-version: 6.2
	import PackageDescription

	let package = Package(
	    name: "lean",
	    dependencies: [.package(url: "file://$repository", branch: "main")],
	    targets: [
	        .executableTarget(
	            name: "App",
	            dependencies: [
	$(for library in WaystationHTTP WaystationArchive; do product "$library"; done)
	            ]
	        ),
	        .executableTarget(
	            name: "Lean",
	            dependencies: [
	$(product Waystation)
	            ]
	        ),
	        .testTarget(
	            name: "LeanTests",
	            dependencies: [
	$(product WaystationTesting)
	            ]
	        ),
	    ]
	)
MANIFEST
cat >"$work/lean/Sources/Lean/main.swift" <<'SWIFT'
import Foundation
import Waystation

let interceptor = try Interceptor {
    $0.rules = [.allow("https://shop.example/**", via: .cache(.cacheFirst(for: .days(7))))]
    $0.cache = try ResponseCache(directory: URL(filePath: CommandLine.arguments[1]))
}
print(interceptor.decision(for: URL(filePath: "/")))
SWIFT
cat >"$work/lean/Tests/LeanTests/LeanTests.swift" <<'SWIFT'
import Testing
import WaystationTesting

@Test(.stubbed { Stub(.get("https://shop.example/"), .json(["isOpen": true])).times(0) })
func stubs() {}
SWIFT

# The new build system is a preview: now and then a signal ends it (in libdispatch's event loop), whatever it builds.
# Such a build is started again, twice at most; a build that fails is not.
build() {
    for attempt in 1 2 3; do
        status=0
        "$swift" build "${options[@]}" --product "$1" >"$work/log" 2>&1 || status=$?
        [ "$status" -ne 0 ] || return 0
        if [ "$status" -lt 128 ] || [ "$attempt" -eq 3 ]; then break; fi
        echo "signal $((status - 128)) ended the build system; it is started again" >&2
    done
    cat "$work/log" >&2
    return "$status"
}

# Fails unless a run of `App` has printed what it must print.
expect_taken() {
    case $1 in
    taken*) ;;
    *)
        echo "the consumer printed: $1" >&2
        exit 1
        ;;
    esac
}

echo "== an app with a cache, and its tests"
start=$SECONDS
scratch=$work/native
"$swift" build --package-path "$work/lean" --scratch-path "$scratch" --build-tests >"$work/log" 2>&1 || {
    cat "$work/log" >&2
    exit 1
}
app=$scratch/debug/Lean
"$app" "$work/cache" >/dev/null
expect_taken "$("$scratch/debug/App" 2>&1)"
objects=$(find "$scratch/debug/" -name '*.o')
built=$(grep --extended-regexp '/WaystationPacks\.build/' <<<"$objects") || true
! readelf --dynamic "$app" | grep libbz2 >/dev/null || built="$built libbz2"
grep --quiet '/Waystation\.build/' <<<"$objects" || built="${built:-nothing at all}"
if [ -n "$built" ]; then
    printf 'an app without packs had these built or linked all the same:\n%s\n' "$built" >&2
    exit 1
fi
echo "built and run in $((SECONDS - start)) s, without packs"

# An app that uses packs without their product gets the errors that the article "Troubleshooting" explains.
cat >"$work/lean/Sources/Lean/main.swift" <<'SWIFT'
import Foundation
import Waystation

_ = try PackLibrary(directory: URL(filePath: "packs"))
_ = Rule.allow("https://shop.example/**", via: .pack(orElse: .nowhere))
SWIFT
"$swift" build --package-path "$work/lean" --scratch-path "$scratch" --product Lean >"$work/log" 2>&1 || true
for message in "cannot find 'PackLibrary' in scope" "type 'Route' has no member 'pack'"; do
    grep --quiet --fixed-strings "error: $message" "$work/log" || {
        printf 'an app that uses packs without their product did not get the error: %s\n' "$message" >&2
        cat "$work/log" >&2
        exit 1
    }
    grep --quiet --fixed-strings "\`$message\`" Sources/Waystation/Waystation.docc/Troubleshooting.md || {
        printf 'Troubleshooting.md does not explain the error: %s\n' "$message" >&2
        exit 1
    }
done

echo "== an app with two small libraries, by Swift Build"
start=$SECONDS
options=(--build-system swiftbuild --package-path "$work/consumer" --scratch-path "$work/swiftbuild")
build App
expect_taken "$("$swift" run "${options[@]}" --skip-build App 2>&1)"
echo "built and run in $((SECONDS - start)) s"

[ "${1:-}" = --everything ] || exit 0
for system in native swiftbuild; do
    echo "== all libraries, --build-system $system"
    options=(--build-system "$system" --package-path "$work/consumer" --scratch-path "$work/$system-all")
    build Everything
done
