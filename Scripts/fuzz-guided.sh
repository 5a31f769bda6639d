#!/bin/sh
# Runs libFuzzer on the code that reads bytes from outside: a million inputs of each kind, guided by the coverage of
# earlier ones.
#
#   fuzz-guided.sh [TARGET…]        all by default: zip, patch, manifest and content-patch, and of the engine http1,
#                                   http2, coding and connect, and of the gateway request-target
#
# RUNS and CONTENT_RUNS set the number of inputs. CONTENT_RUNS is for content patches: each goes through a real library,
# which takes milliseconds. SECONDS_EACH ends each target after so many seconds. SANITIZERS=fuzzer leaves the address
# sanitizer out. Inputs that cause a failure are written to .build/guided/findings.

set -eu
cd "$(dirname "$0")/.."
build=.build/guided
findings=$build/findings

# The targets of the engine test internal types, so it is compiled for testing. Its parser of HTTP/1 is written in C, and
# is instrumented for coverage too.
# gold, the linker by default, cannot link a libFuzzer whose `main` is not used; lld is part of the toolchain.
"${SWIFT:-swift}" build --package-path Benchmarks --scratch-path "$build" -c release --product fuzz \
    -Xswiftc "-sanitize=${SANITIZERS:-fuzzer,address}" -Xswiftc -Xclang-linker -Xswiftc -fuse-ld=lld \
    -Xswiftc -enable-testing -Xswiftc -DTESTABLE -Xcc -fsanitize=fuzzer-no-link

mkdir -p "$findings"
# In memory if possible, since each archive is extracted.
shared=/dev/shm
[ -w "$shared" ] || shared=${TMPDIR:-/tmp}
scratch=$(mktemp -d "$shared/waystation-fuzz.XXXXXX")
trap 'rm -rf "$scratch"' EXIT

# An interactive backtrace would wait for input. Leaks are not reported, since Foundation itself leaks.
export SWIFT_BACKTRACE=enable=no TMPDIR="$scratch" ASAN_OPTIONS=symbolize=0:detect_leaks=0:quarantine_size_mb=16
[ $# -gt 0 ] || set -- zip patch manifest content-patch http1 http2 coding connect request-target
status=0
for target in "$@"; do
    runs=${RUNS:-1000000}
    [ "$target" != content-patch ] || runs=${CONTENT_RUNS:-20000}
    mkdir -p "$scratch/corpus-$target"
    echo "== $target, $runs inputs"
    if "$build/release/fuzz" "$target" "$scratch/corpus-$target" -runs="$runs" -seed=1 -max_total_time="${SECONDS_EACH:-0}" \
        -timeout=5 -rss_limit_mb=1024 -detect_leaks=0 \
        -print_final_stats=1 -artifact_prefix="$findings/$target-" \
        >"$scratch/log" 2>&1 </dev/null; then
        grep -E 'DONE|stat::' "$scratch/log"
    else
        tail -n 20 "$scratch/log"
        status=1
    fi
done
exit $status
