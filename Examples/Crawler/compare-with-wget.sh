#!/bin/sh
# Crawls Debian's python3.11-doc, served by nginx on loopback, alternately with wget and the crawler, and compares
# the sets of files and the wall times. Needs: nginx, wget, python3.11-doc, sqlite3, and a release build of the crawler.
#
#   compare-with-wget.sh [ROUNDS]        default 3
#   CRAWLER=/path/to/crawler             default: the release build of this package
#   SITE=/usr/share/doc/python3.11/html  the site to serve
set -eu

here=$(cd "$(dirname "$0")" && pwd)
rounds=${1:-3}
site=$(readlink -f "${SITE:-/usr/share/doc/python3.11/html}")
for tool in nginx wget sqlite3; do
    command -v "$tool" >/dev/null || PATH=$PATH:/usr/sbin command -v "$tool" >/dev/null || {
        echo "$tool is missing: apt-get install nginx wget sqlite3 python3.11-doc" >&2
        exit 69
    }
done
PATH=$PATH:/usr/sbin
[ -f "$site/index.html" ] || { echo "$site contains no site: apt-get install python3.11-doc" >&2; exit 69; }
if [ -z "${CRAWLER:-}" ]; then
    swift build -c release --package-path "$here"
    CRAWLER=$(swift build -c release --package-path "$here" --show-bin-path)/crawler
fi

work=$(mktemp -d)
# shellcheck disable=SC2329
finish() {
    [ ! -f "$work/nginx.pid" ] || kill "$(cat "$work/nginx.pid")" 2>/dev/null || true
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

# A free port: nginx cannot choose one itself.
port=20000
while [ "$port" -lt 60000 ]; do
    cat >"$work/nginx.conf" <<CONF
daemon on;
pid $work/nginx.pid;
error_log $work/error.log;
worker_processes 1;
events { worker_connections 512; }
http {
    include /etc/nginx/mime.types;
    access_log off;
    sendfile on;
    client_body_temp_path $work/body; proxy_temp_path $work/proxy; fastcgi_temp_path $work/fastcgi;
    uwsgi_temp_path $work/uwsgi; scgi_temp_path $work/scgi;
    server { listen 127.0.0.1:$port; root $site; }
}
CONF
    nginx -q -e "$work/error.log" -c "$work/nginx.conf" 2>/dev/null && break
    port=$((port + 97))
done
address=http://127.0.0.1:$port

milliseconds() { echo $(($(date +%s%N) / 1000000)); }
median() { sort -n "$1" | sed -n "$((($(wc -l <"$1") + 1) / 2))p"; }

round=1
while [ "$round" -le "$rounds" ]; do
    rm -rf "$work/wget" "$work/crawl"
    mkdir "$work/wget"
    start=$(milliseconds)
    # 8: the server answered some link with an error, as it does for the crawler.
    (cd "$work/wget" && wget -q -r -l inf "$address/") || [ $? -eq 8 ]
    middle=$(milliseconds)
    "$CRAWLER" crawl "$address/" --into "$work/crawl" --quiet >"$work/outcome"
    end=$(milliseconds)
    echo $((middle - start)) >>"$work/wget.times"
    echo $((end - middle)) >>"$work/crawler.times"
    echo "round $round: wget $((middle - start)) ms, crawler $((end - middle)) ms"
    round=$((round + 1))
done

# Both sets have the paths of URLs: wget names an index page by its file, and decodes names.
(cd "$work/wget/127.0.0.1:$port" && find . -type f) | sed 's|^\./||; s#\(^\|/\)index\.html$#\1#' | sort -u >"$work/wget.set"
sqlite3 "$work/crawl/crawl.sqlite" \
    "SELECT substr(url, $((${#address} + 2))) FROM resource WHERE state = 1 AND url LIKE '$address/%'" |
    sed 's#\(^\|/\)index\.html$#\1#' | sort -u >"$work/crawler.set"
comm -23 "$work/wget.set" "$work/crawler.set" >"$work/only-wget"
comm -13 "$work/wget.set" "$work/crawler.set" >"$work/only-crawler"

wgetTime=$(median "$work/wget.times")
crawlerTime=$(median "$work/crawler.times")
echo
echo "                         wget   crawler"
printf 'files                %8d  %8d\n' "$(wc -l <"$work/wget.set")" "$(wc -l <"$work/crawler.set")"
printf 'only there           %8d  %8d\n' "$(wc -l <"$work/only-wget")" "$(wc -l <"$work/only-crawler")"
printf 'median wall time, ms %8d  %8d\n' "$wgetTime" "$crawlerTime"
for side in wget crawler; do
    sed "s/^/only $side: /" "$work/only-$side"
done
"$CRAWLER" offline "$work/crawl" --quiet
if [ -s "$work/only-wget" ]; then
    echo "the crawler lacks files that wget has" >&2
    exit 1
fi
[ "$crawlerTime" -le "$wgetTime" ] || { echo "the crawler took longer than wget" >&2; exit 1; }
