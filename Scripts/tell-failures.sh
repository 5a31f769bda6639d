#!/usr/bin/env bash
# Runs a command that tests, and where it fails, tells once more at the end what failed: among thousands of lines of
# tests that run side by side nobody finds it.
#
#     Scripts/tell-failures.sh swift test
set -uo pipefail

output=$(mktemp)
trap 'rm -f "$output"' EXIT

"$@" 2>&1 | tee "$output"
status=${PIPESTATUS[0]}
if [ "$status" -ne 0 ]; then
  echo "== What failed in: $*"
  # Swift Testing marks what failed by a cross and what belongs to it by an arrow; a crash and a compiler say "error:".
  grep -aE '^(✘|↳)|error:|[Ff]atal error|unexpected signal' "$output" | cut -c1-600 | tail -60
fi
exit "$status"
