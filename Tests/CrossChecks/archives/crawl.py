"""Compares a crawl that is written as WACZ with wget's WARC of the same site: crawl.py TOOL CRAWLER FOLDER [ROUNDS]

FOLDER is a web site, such as /usr/share/doc/sqlite3; nginx serves it on loopback. CRAWLER is the program `crawler`. In
each round both load the whole site, one after the other. Then every response of wget's WARC is compared with that of ours,
the whole WACZ is checked as check.py does, and the median times are printed. Fails if a record differs.
"""

import os
import pathlib
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile

from warcio.archiveiterator import ArchiveIterator

import check

# `Date` is the moment of the response. The others are about the connection, or about the coding that wget asks for.
ARGUED = {"date", "connection", "keep-alive", "transfer-encoding", "content-encoding", "vary"}


def serve(root, folder):
    """Starts nginx, and returns its process and port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    settings = folder / "nginx.conf"
    settings.write_text(f"""
        daemon off; worker_processes 1; pid {folder}/nginx.pid; error_log {folder}/nginx.log;
        events {{ worker_connections 256; }}
        http {{
            include /etc/nginx/mime.types; access_log off; disable_symlinks off;
            client_body_temp_path {folder}/b; proxy_temp_path {folder}/p; fastcgi_temp_path {folder}/f;
            uwsgi_temp_path {folder}/u; scgi_temp_path {folder}/s;
            server {{ listen 127.0.0.1:{port}; root {root}; index index.html; }}
        }}
    """)
    # nginx's workers belong to another user, if it is started by root.
    os.chmod(folder, 0o755)
    process = subprocess.Popen(["nginx", "-c", settings, "-e", folder / "nginx.log"])
    for _ in range(600):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return process, port
        except OSError:
            time.sleep(0.1)
    sys.exit("nginx does not answer")


def timed(*arguments, allowed=(0,)):
    start = time.monotonic()
    outcome = subprocess.run([str(part) for part in arguments], capture_output=True, text=True, check=False)
    if outcome.returncode not in allowed:
        sys.exit(f"{arguments[0]} ended with {outcome.returncode}: {outcome.stderr[-2000:]}")
    return time.monotonic() - start


def responses(stream):
    """The status, the fields and the body of each URL; a revisit has the body of the record it refers to."""
    found, by_digest = {}, {}
    for record in ArchiveIterator(stream, check_digests="raise"):
        if record.rec_type not in ("response", "revisit"):
            continue
        url = record.rec_headers["WARC-Target-URI"].strip("<>")
        digest = record.rec_headers["WARC-Payload-Digest"]
        body = record.content_stream().read()
        if record.rec_type == "revisit":
            body = by_digest[digest]
        else:
            by_digest[digest] = body
        fields = sorted((name.lower(), value) for name, value in record.http_headers.headers)
        found[url] = (record.http_headers.get_statuscode(), fields, body)
    return found


def compare(ours, theirs):
    lacking = sorted(url for url in set(theirs) - set(ours) if theirs[url][0] < "400")
    if lacking:
        sys.exit(f"the crawler lacks {len(lacking)} of wget's {len(theirs)} responses: {lacking[:5]}")
    # wget takes more texts for links than there are.
    invented = sorted(set(theirs) - set(ours))
    theirs = {url: response for url, response in theirs.items() if url in ours}

    def compared(response):
        status, fields, body = response
        return status, [pair for pair in fields if pair[0] not in ARGUED], body

    wrong = [url for url in theirs if compared(ours[url]) != compared(theirs[url])]
    if wrong:
        sys.exit(f"{len(wrong)} responses differ: {wrong[:5]}: {ours[wrong[0]][:2]} {theirs[wrong[0]][:2]}")
    differing = sorted({pair[0] for url in theirs for pair in set(ours[url][1]) ^ set(theirs[url][1])})
    more = sorted(set(ours) - set(theirs))
    print(f"wget: {len(theirs)} responses have the same status, fields and bytes, but for {', '.join(differing)}; "
          f"ours has {len(more)} more, such as {', '.join(more[:3])}; "
          f"wget asked for {len(invented)} that do not exist, such as {', '.join(invented[:3])}")


def main():
    tool, crawler, root = sys.argv[1:4]
    rounds = int(sys.argv[4]) if len(sys.argv) > 4 else 3
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        server, port = serve(root, folder)
        address = f"http://127.0.0.1:{port}/"
        times = {"crawler": [], "crawler --wacz": [], "wget --warc-file": []}
        try:
            for number in range(rounds):
                here = folder / str(number)
                here.mkdir()
                wacz, warc = here / "site.wacz", here / "site.warc.gz"
                plain = [crawler, "crawl", address, "--quiet", "--into"]
                times["crawler"].append(timed(*plain, here / "plain"))
                times["crawler --wacz"].append(timed(*plain, here / "crawl", "--wacz", wacz))
                times["wget --warc-file"].append(timed(
                    "wget", "--quiet", "--recursive", "--level=inf", "--page-requisites", "--no-host-directories",
                    f"--directory-prefix={here / 'wget'}", f"--warc-file={here / 'site'}", address, allowed=(0, 8)))
        finally:
            server.terminate()
            server.wait()
        with zipfile.ZipFile(wacz) as archive, archive.open("archive/data.warc.gz") as ours, warc.open("rb") as theirs:
            loaded = responses(ours)
            recorded = {url: response for url, response in responses(theirs).items() if url.startswith("http")}
            compare(loaded, recorded)
        medians = {name: statistics.median(values) for name, values in times.items()}
        print(f"{root}: {len(loaded)} responses, {sum(len(body) for _, _, body in loaded.values())} bytes, "
              f"WACZ {wacz.stat().st_size} bytes, wget's WARC {warc.stat().st_size}")
        print(f"median of {rounds}: " + ", ".join(f"{name} {value:.2f} s" for name, value in medians.items())
              + f"; {medians['crawler --wacz'] / medians['wget --warc-file']:.2f} of wget's time")
        (folder / "pywb").mkdir()
        check.check_wacz(wacz, folder, check.bodies(tool, here / "crawl" / "http", folder))


if __name__ == "__main__":
    main()
