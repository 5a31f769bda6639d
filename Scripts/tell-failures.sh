#!/usr/bin/env bash
# Runs a test command. If it fails, the script prints its failures once more at the end, since they are hard to find
# among thousands of lines of tests that run side by side.
#
#     Scripts/tell-failures.sh swift test
set -uo pipefail

output=$(mktemp)
trap 'rm -f "$output"' EXIT

"$@" 2>&1 | tee "$output"
status=${PIPESTATUS[0]}
if [ "$status" -ne 0 ]; then
  echo "== Failures of: $*"
  # Swift Testing marks failures with a cross and their details with an arrow; crashes and compilers print "error:".
  grep -aE '^(✘|↳)|error:|[Ff]atal error|unexpected signal' "$output" | cut -c1-600 | tail -60
fi
exit "$status"
