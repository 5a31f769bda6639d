#!/bin/sh
# Installs the Debian packages that are missing: install-packages.sh [--optional] PACKAGE…
# An optional package that cannot be installed is skipped with a message; any other is an error that names it.
set -eu

optional=no
if [ "${1:-}" = --optional ]; then optional=yes; shift; fi

missing=
for package in "$@"; do
    status=$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)
    [ "$status" = installed ] || missing="$missing $package"
done
[ -n "$missing" ] || exit 0

if command -v apt-get >/dev/null 2>&1; then
    sudo=
    [ "$(id -u)" -eq 0 ] || sudo=sudo
    export DEBIAN_FRONTEND=noninteractive
    echo "installing$missing"
    # shellcheck disable=SC2086
    if { $sudo apt-get update -qq && $sudo apt-get install -y -qq --no-install-recommends $missing; } >/dev/null; then
        exit 0
    fi
fi

if [ "$optional" = yes ]; then
    echo "continuing without$missing" >&2
    exit 0
fi
echo "please install, with your system's package manager:$missing" >&2
exit 1
