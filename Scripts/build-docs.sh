#!/bin/sh
# Builds the DocC documentation of all libraries into .build/docs, and fails on any warning: build-docs.sh
# Needs `swift` and `docc` of one toolchain in PATH.
set -eu
cd "$(dirname "$0")/.."
# The one that docc belongs to.
export SWIFT=swift

if ! command -v docc >/dev/null 2>&1; then
    echo "docc is not in PATH: it is part of the Swift toolchain, in the folder of swift" >&2
    exit 1
fi

modules="Waystation WaystationHTTP WaystationStorage WaystationArchive WaystationPacks WaystationPublishing WaystationRedis WaystationNIO WaystationGateway WaystationRecording WaystationOrigin WaystationTesting"
output=.build/docs
graphs=$output/symbol-graphs

# Together these targets depend on all modules above.
Scripts/swift.sh build . --target WaystationTesting
Scripts/swift.sh build . --target WaystationPublishing
Scripts/swift.sh build . --target WaystationRecording
Scripts/swift.sh build . --target WaystationNIO
Scripts/swift.sh build . --target WaystationGateway
Scripts/swift.sh build . --target WaystationRedis
products=.build/make/debug
checkouts=.build/make/checkouts
target=$(swift -print-target-info | sed -n 's/.*"unversionedTriple": "\(.*\)".*/\1/p')

# Swift finds the C modules of the package and of its dependencies by their module maps.
includes=
for map in Sources/*/include/module.modulemap "$products"/*.build/module.modulemap \
    "$checkouts"/*/Sources/*/module.modulemap "$checkouts"/*/Sources/*/include/module.modulemap; do
    [ -f "$map" ] && includes="$includes -Xcc -fmodule-map-file=$map"
done

rm -rf "$output"
mkdir -p "$graphs"
for module in $modules; do
    # shellcheck disable=SC2086
    swift symbolgraph-extract -module-name "$module" -target "$target" -I "$products/Modules" $includes \
        -minimum-access-level public -skip-synthesized-members -emit-extension-block-symbols \
        -output-dir "$graphs"
done
docc convert Sources/Waystation/Waystation.docc --warnings-as-errors \
    --fallback-display-name Waystation \
    --fallback-bundle-identifier waystation \
    --additional-symbol-graph-dir "$graphs" \
    --output-path "$output/Waystation.doccarchive"
# The archive's own root is a page that is not found.
cat >"$output/Waystation.doccarchive/index.html" <<'HTML'
<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Waystation</title>
<meta http-equiv="refresh" content="0; url=documentation/waystation/">
<p><a href="documentation/waystation/">Waystation</a></p>
</html>
HTML
echo "$output/Waystation.doccarchive"
