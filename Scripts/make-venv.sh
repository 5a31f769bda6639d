#!/bin/sh
# Makes a Python environment with pinned packages of PyPI: make-venv.sh DIRECTORY REQUIREMENTS
# Does nothing when it is there already and was made of the same requirements.
set -eu
directory=${1:?"usage: make-venv.sh DIRECTORY REQUIREMENTS"}
requirements=${2:?"usage: make-venv.sh DIRECTORY REQUIREMENTS"}

cmp -s "$requirements" "$directory/requirements.txt" && exit 0
echo "installing $requirements"
rm -rf "$directory"
python3 -m venv "$directory"
"$directory/bin/pip" install --quiet --disable-pip-version-check --requirement "$requirements"
# Last, so that what was broken off is made anew.
cp "$requirements" "$directory/requirements.txt"
