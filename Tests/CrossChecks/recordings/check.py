"""Compares what Waystation imports from a corpus of recordings with what its peers read: check.py WAYSTATION [NAME]

WAYSTATION is the tool. The corpus is made by warcs.py and hars.py. Prints a row for each recording whose reading is not
that of its peer, with the reason, and a summary. Fails when a body differs without a reason, when a reason explains no
difference any more, and when the tool ends in another way than with a list or an error. NAME, a part of the names of
recordings, chooses some of them and prints every row.
"""

import base64
import concurrent.futures
import hashlib
import json
import pathlib
import subprocess
import sys
import tempfile

import hars
import peers
import warcs

PREFIX = "https://shop.example/"


def run(*arguments):
    return subprocess.run(arguments, capture_output=True, text=True, check=False)


def imported(tool, case, folder):
    """The bodies that are stored after an import, by URL."""
    file, store, exported = folder / f"file.{case.suffix}", folder / "store", folder / "out.har"
    file.write_bytes(case.data)
    outcome = run(tool, "cache", "import", str(file), "--in", str(store), "--time", "now", "--format", "json")
    if outcome.returncode not in (0, 1):
        sys.exit(f"{case.name}: the tool ended with {outcome.returncode}: {outcome.stderr}")
    if not store.exists():
        return {}, outcome
    written = run(tool, "cache", "export", "--in", str(store), "--secrets", "-o", str(exported))
    if written.returncode:
        return {}, outcome
    bodies = {}
    for entry in json.loads(exported.read_text())["log"]["entries"]:
        content = entry["response"]["content"]
        text = content.get("text", "")
        bodies[entry["request"]["url"]] = (
            base64.b64decode(text) if content.get("encoding") == "base64" else text.encode()
        )
    return bodies, outcome


def peer(case):
    try:
        return (peers.read_har if "har" in case.suffix else peers.read_warc)(case.data)
    except Exception as error:  # pylint: disable=broad-except
        return {"": repr(error)[:60].encode()}


def shown(bodies):
    return {
        url.removeprefix(PREFIX): f"{len(body)} bytes, {hashlib.sha1(body).hexdigest()[:8]}"
        for url, body in sorted(bodies.items())
    }


def main():
    tool, *names = sys.argv[1:]
    cases = [case for kind in (warcs, hars) for case in kind.corpus() if not names or names[0] in case.name]
    assert len({(case.name, case.suffix) for case in cases}) == len(cases), "two recordings have one name"

    def row(case):
        with tempfile.TemporaryDirectory() as folder:
            ours, outcome = imported(tool, case, pathlib.Path(folder))
        theirs = peer(case)
        expected = {url: body for url, body in theirs.items() if url}
        for path, body in case.instead.items():
            url = PREFIX + path
            expected.pop(url, None)
            if body is not None:
                expected[url] = body
        return case, ours, theirs, expected, outcome

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        rows = list(pool.map(row, cases))
    faults = 0
    for case, ours, theirs, expected, outcome in rows:
        is_right = ours == expected
        needs_reason = theirs != expected
        if is_right and not case.why and not names:
            continue
        faults += not is_right or bool(case.why) != needs_reason
        verdict = "as intended" if is_right else "WRONG"
        if is_right and bool(case.why) != needs_reason:
            verdict = "WRONG: the reason explains nothing" if case.why else "WRONG: without a reason"
        print(f"{case.name}: {verdict}{': ' + case.why if case.why else ''}")
        if not is_right or names:
            print(f"  peer: {shown(theirs)}\n  ours: {shown(ours)}\n  must: {shown(expected)}")
            print("  " + (outcome.stdout + outcome.stderr).replace("\n", "\n  "))
    count = {kind: sum(kind in case.suffix for case in cases) for kind in ("warc", "har")}
    print(f"{count['warc']} WARCs beside warcio, {count['har']} HARs beside json: {faults} differ without a reason")
    sys.exit(1 if faults else 0)


if __name__ == "__main__":
    main()
