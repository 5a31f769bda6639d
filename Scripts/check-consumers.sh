#!/usr/bin/env bash
# Builds a package that depends on this one by a git URL, by both build systems: check-consumers.sh [--everything]
# The folder of the repository is not named after the package, and its name has characters that no package identity has.
# All libraries are resolved and planned. Two of them are built, or all with --everything, which takes minutes.
set -euo pipefail
cd "$(dirname "$0")/.."
swift=${SWIFT:-swift}
products=App
[ "${1:-}" != --everything ] || products="App Everything"

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

# The libraries of `App`: one with several modules and a dependency, and one with a C library.
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
		$(for library in WaystationCaching WaystationArchive; do product "$library"; done)
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
cat >"$work/consumer/Sources/App/main.swift" <<'SWIFT'
import WaystationArchive
import WaystationCaching
import WaystationRules

let pattern = try URLPattern("https://shop.example/app/**")
let isTaken = CanonicalURL("https://SHOP.example/app/index.html").map(pattern.matches) ?? false
print(isTaken ? "taken" : "not taken", CachingRules(), ZipLimits())
SWIFT
echo "@main enum Everything { static func main() {} }" >"$work/consumer/Sources/Everything/Everything.swift"

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

for system in native swiftbuild; do
    echo "== a consumer by git URL, --build-system $system"
    start=$SECONDS
    options=(--build-system "$system" --package-path "$work/consumer" --scratch-path "$work/$system")
    for product in $products; do build "$product"; done
    printed=$("$swift" run "${options[@]}" --skip-build App 2>&1)
    case $printed in
    taken*) echo "built and run in $((SECONDS - start)) s" ;;
    *)
        echo "the consumer printed: $printed" >&2
        exit 1
        ;;
    esac
done
