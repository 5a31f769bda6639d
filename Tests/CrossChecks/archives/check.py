"""Reads what Waystation writes as WARC and WACZ with the programs of web archives: check.py TOOL [WACZ STORE]

TOOL is the program `waystation`. A store is filled with responses of many kinds and exported as WARC, compressed WARC and
WACZ. With WACZ and STORE, such as those of a crawl, that file is checked instead, beside the responses of the store.

- warcio reads every record, and finds that its digests are right.
- cdxj-indexer makes the same index, line by line.
- `wacz validate` is content.
- pywb plays every URL of the index of the WACZ with the bytes that the store has.

Prints a line for each of them, and fails at the first difference.
"""

import base64
import concurrent.futures
import contextlib
import gzip
import http.client
import io
import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import time
import zipfile

from warcio.archiveiterator import ArchiveIterator

PROGRAMS = pathlib.Path(sys.executable).parent


def run(*arguments, **options):
    outcome = subprocess.run([str(part) for part in arguments], capture_output=True, text=True, check=False, **options)
    if outcome.returncode:
        sys.exit(f"{' '.join(str(part) for part in arguments)} ended with {outcome.returncode}:\n"
                 f"{outcome.stdout[-2000:]}{outcome.stderr[-2000:]}")
    return outcome.stdout


def site():
    """Responses of many kinds, as the entries of a HAR."""
    any_bytes = bytes(range(256)) * 300
    pages = [
        ("", 200, "text/html; charset=utf-8", "<!doctype html><title>Größe</title>\r\n".encode()),
        ("copy.html", 200, "text/html; charset=utf-8", "<!doctype html><title>Größe</title>\r\n".encode()),
        ("Folder/Page.html", 200, "text/html", b"<p>one"),
        ("old.html", 200, "text/html;charset=iso-8859-1", "<p>Größe".encode("latin-1")),
        ("search?q=b&a=2&A=1", 200, "application/json", b'{"a": "\\u00fc"}'),
        ("search?q=%E4%BD%A0+x%20y", 200, "text/plain", b"found"),
        ("caf%C3%A9/na%C3%AFve.html", 200, "application/xhtml+xml", b"<html/>"),
        ("image.png", 200, "image/png", any_bytes),
        ("image-again.png", 200, "image/png", any_bytes),
        ("empty.css", 200, "text/css", b""),
        ("large.bin", 200, "application/octet-stream", any_bytes * 40),
        ("chunks.txt", 200, "text/plain", b"5\r\nhello\r\n0\r\n\r\n"),
        ("record.txt", 200, "text/plain", b"\r\n\r\nWARC/1.1\r\nWARC-Type: response\r\n\r\n"),
        ("packed.gz", 200, "application/gzip", gzip.compress(any_bytes)),
        ("untyped", 200, None, b"?"),
        ("moved", 301, "text/html", b""),
    ] + [(f"list/{number}.html", 200, "text/html", b"<p>%d" % number) for number in range(700)]
    entries = []
    for path, status, kind, body in pages:
        fields = [{"name": "Cache-Control", "value": "max-age=600"}]
        if kind:
            fields.append({"name": "Content-Type", "value": kind})
        if status == 301:
            fields.append({"name": "Location", "value": "https://shop.example/"})
        entries.append({
            "startedDateTime": "2026-03-01T12:00:00.000Z", "time": 1, "cache": {}, "timings": {},
            "request": {"method": "GET", "url": f"https://shop.example/{path}", "headers": []},
            "response": {
                "status": status, "headers": fields,
                "content": {"size": len(body), "text": base64.b64encode(body).decode(), "encoding": "base64"},
            },
        })
    return {"log": {"version": "1.2", "creator": {"name": "check", "version": "1"}, "entries": entries}}


def bodies(tool, store, folder):
    """The bodies that a store has, by URL."""
    file = folder / "store.har"
    run(tool, "cache", "export", "--in", store, "--secrets", "-o", file)
    found = {}
    for entry in json.loads(file.read_text())["log"]["entries"]:
        content = entry["response"]["content"]
        text = content.get("text", "")
        body = base64.b64decode(text) if content.get("encoding") == "base64" else text.encode()
        found[entry["request"]["url"]] = (entry["response"]["status"], body)
    return found


def check_records(warc):
    """Reads every record by warcio."""
    counts = {}
    with open(warc, "rb") as stream:
        for record in ArchiveIterator(stream, check_digests="raise"):
            record.content_stream().read()
            counts[record.rec_type] = counts.get(record.rec_type, 0) + 1
    run(PROGRAMS / "warcio", "check", warc)
    lines = run(PROGRAMS / "warcio", "index", warc, "-f", "offset,warc-type,warc-target-uri").splitlines()
    assert len(lines) == sum(counts.values())
    print(f"warcio: {warc.name}: {', '.join(f'{count} {kind}' for kind, count in counts.items())}, digests are right")


def check_index(warc, index):
    """Compares an index with the one that cdxj-indexer makes."""
    theirs = run(PROGRAMS / "cdxj-indexer", "--sort", warc).splitlines()
    if theirs != index:
        wrong = [pair for pair in zip(index, theirs) if pair[0] != pair[1]][:3]
        sys.exit(f"cdxj-indexer: {len(theirs)} lines, ours {len(index)}; the first that differ: {wrong}")
    print(f"cdxj-indexer: {len(index)} lines are equal")


@contextlib.contextmanager
def pywb(folder, warc, index):
    """Runs pywb with a WARC and an index."""
    collection = folder / "collections" / "site"
    for name in ("archive", "indexes"):
        (collection / name).mkdir(parents=True)
    (collection / "archive" / warc.name).write_bytes(warc.read_bytes())
    (collection / "indexes" / "index.cdxj").write_text("\n".join(index) + "\n")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    log = (folder / "pywb.log").open("w")
    arguments = [PROGRAMS / "wayback", "--bind", "127.0.0.1", "--port", str(port)]
    server = subprocess.Popen(arguments, cwd=folder, stdout=log, stderr=log)
    try:
        for _ in range(600):
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
                break
            if server.poll() is not None:
                sys.exit(f"pywb ended: {(folder / 'pywb.log').read_text()[-2000:]}")
            time.sleep(0.1)
        yield port
    finally:
        server.terminate()
        server.wait()
        log.close()


def check_playing(folder, warc, index, stored):
    """Loads every URL of the index from pywb, and compares its bytes."""
    captures = {}
    for line in index:
        _, timestamp, members = line.split(" ", 2)
        captures[json.loads(members)["url"]] = timestamp
    missing = sorted(set(stored) - set(captures))
    if missing:
        sys.exit(f"the archive lacks {len(missing)} responses of the store: {missing[:5]}")
    with pywb(folder, warc, index) as port:

        def load(url):
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            try:
                connection.putrequest("GET", f"/site/{captures[url]}id_/{url}", skip_accept_encoding=True)
                connection.endheaders()
                response = connection.getresponse()
                return url, response.status, response.read()
            finally:
                connection.close()

        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            loaded = list(pool.map(load, sorted(stored)))
    wrong = [(url, status, len(body)) for url, status, body in loaded if (status, body) != stored[url]]
    if wrong:
        sys.exit(f"pywb: {len(wrong)} of {len(loaded)} differ: {wrong[:5]}")
    print(f"pywb: {len(loaded)} responses have the status and the bytes of the store")


def check_wacz(wacz, folder, stored):
    run(PROGRAMS / "wacz", "validate", "-f", wacz)
    print(f"wacz validate: {wacz.name} is valid")
    with zipfile.ZipFile(wacz) as archive:
        assert archive.getinfo("archive/data.warc.gz").compress_type == zipfile.ZIP_STORED
        warc = folder / "data.warc.gz"
        warc.write_bytes(archive.read("archive/data.warc.gz"))
        compressed = archive.read("indexes/index.cdx.gz")
        index = gzip.decompress(compressed).decode().splitlines()
        places = archive.read("indexes/index.idx").decode().splitlines()
    # Each block begins where the second index says, with the line that it names.
    for line in places[1:]:
        key, members = line.split("{", 1)
        place = json.loads("{" + members)
        block = compressed[place["offset"]:place["offset"] + place["length"]]
        assert gzip.GzipFile(fileobj=io.BytesIO(block)).read().decode().startswith(key)
    check_records(warc)
    check_index(warc, index)
    check_playing(folder / "pywb", warc, index, stored)


def main():
    tool, *given = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "pywb").mkdir()
        if given:
            return check_wacz(pathlib.Path(given[0]), folder, bodies(tool, given[1], folder))
        har, store = folder / "site.har", folder / "store"
        har.write_text(json.dumps(site()))
        run(tool, "cache", "import", har, "--in", store, "--time", "now")
        stored = bodies(tool, store, folder)
        assert len(stored) == len(site()["log"]["entries"])
        for file in (folder / "site.warc", folder / "site.warc.gz"):
            run(tool, "cache", "export", "--in", store, "-o", file)
            check_records(file)
        wacz = folder / "site.wacz"
        run(tool, "cache", "export", "--in", store, "-o", wacz)
        check_wacz(wacz, folder, stored)
        # What was written is imported again with equal bytes.
        for file in (folder / "site.warc", folder / "site.warc.gz", wacz):
            again = folder / f"again-{file.suffix}"
            run(tool, "cache", "import", file, "--in", again)
            assert bodies(tool, again, folder) == stored, file.name
        print("waystation: imported again with equal bytes")
    return None


if __name__ == "__main__":
    main()
