#!/bin/sh
# Fetches real web apps in successive versions, from wheels on PyPI: fetch-web-apps.sh DIRECTORY
# Writes their files into DIRECTORY/jupyterlab-4.2.3/, …-4.2.4/, …-4.2.5/ and DIRECTORY/streamlit-1.38.0/, …-1.39.0/.
set -eu
directory=${1:?"usage: fetch-web-apps.sh DIRECTORY"}
mkdir -p "$directory/wheels"

# NAME VERSION PATH-INSIDE-THE-WHEEL
fetch() {
    target=$directory/$1-$2
    [ -d "$target" ] && return 0
    echo "fetching $1 $2"
    python3 -m pip download --quiet --no-deps --only-binary=:all: --dest "$directory/wheels" "$1==$2"
    rm -rf "$target.new"
    mkdir "$target.new"
    # A wheel is a zip.
    unzip -q "$directory/wheels/$1-$2-"*.whl "$3/*" -d "$target.new"
    mv "$target.new/$3" "$target"
    rm -rf "$target.new"
}

for version in 4.2.3 4.2.4 4.2.5; do
    fetch jupyterlab "$version" "jupyterlab-$version.data/data/share/jupyter/lab/static"
done
for version in 1.38.0 1.39.0; do
    fetch streamlit "$version" streamlit/static
done
