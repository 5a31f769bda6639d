#!/bin/sh
# Makes a Python environment with pinned packages from PyPI: make-venv.sh DIRECTORY REQUIREMENTS
# Does nothing if the environment exists and was made from the same requirements.
set -eu
directory=${1:?"usage: make-venv.sh DIRECTORY REQUIREMENTS"}
requirements=${2:?"usage: make-venv.sh DIRECTORY REQUIREMENTS"}

cmp -s "$requirements" "$directory/requirements.txt" && exit 0
echo "installing $requirements"
rm -rf "$directory"
python3 -m venv "$directory"
"$directory/bin/pip" install --quiet --disable-pip-version-check --requirement "$requirements"
# This comes last, so that the next run repeats an installation that was interrupted.
cp "$requirements" "$directory/requirements.txt"
