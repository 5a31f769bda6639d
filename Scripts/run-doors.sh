#!/bin/sh
# Runs the tests of the cache once more through the other doors: the direct client over both engines, and AsyncHTTPClient's
# calls over its own client. `make test` runs them through a session.
#
#   run-doors.sh [OPTION of Swift Testing]...
#
# Tests of the engine of Foundation's, and of what a door does not have, are left out by name. `Docs/Testing.md` argues
# each of them.
set -eu
cd "$(dirname "$0")/.."
tests='WaystationTests\.(.*EndToEndTests|BackgroundFetch|ConfirmedResponse|ContentCoding|DroppedConnection|FailureMessage|HiddenCut|HostField|KeyRegression|Partition|RepeatedHit|SharedFetchTests|StandardCaching|TargetSpelling|TwoLoads)'
# How Foundation repeats requests, words its errors, and takes lengths and hosts that the engine on SwiftNIO refuses.
foundation='WholenessEndToEndTests/(length|lengthAndChunks|repeated)\(|DroppedConnectionTests/(once|idempotent|safe)\(|SharedFetchTests/(failure|secondTrip)\(|FailureMessageTests/withoutSecrets|HostFieldTests/notServed'
# A delegate, a storage of cookies, and a cancel that is told as a URLError.
session='RedirectEndToEndTests/delegate|EndToEndTests/cookies\(|SharedFetchTests/(cancelling|allCancelled)\('
for door in client nio-client ahc; do
    case $door in
    client) skipped='^$' ;;
    nio-client) skipped=$foundation ;;
    ahc) skipped="$foundation|$session" ;;
    esac
    echo "through $door"
    WAYSTATION_DOOR=$door Scripts/run-tests.py Scripts/swift.sh test . --filter "$tests" --skip "$skipped" "$@"
done
