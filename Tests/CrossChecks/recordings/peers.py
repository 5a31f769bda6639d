"""The readings of the peers: warcio for WARC, and Python's own json for HAR. A reading maps URLs to bodies."""

import base64
import gzip
import hashlib
import io
import json
import sys

import brotlicffi

# warcio needs a decoder of Brotli that it can mark; that of the package `brotli` cannot be marked.
sys.modules["brotli"] = brotlicffi

# pylint: disable-next=wrong-import-position
from warcio.archiveiterator import ArchiveIterator

ENCODED = set("[]{}|^`\"<>\\ ")


def stored_url(url):
    """The URL of a recorded link as a live load has it: without its fragment, and with the characters percent-encoded that
    RFC 3986 does not allow."""
    url = url.split("#")[0]
    result = ""
    for index, character in enumerate(url):
        pair = url[index + 1 : index + 3]
        is_stray = character == "%" and not (len(pair) == 2 and all(digit in "0123456789abcdefABCDEF" for digit in pair))
        if character in ENCODED or is_stray:
            result += f"%{ord(character):02X}"
        else:
            result += character
    return result


def newest(captures):
    """The newest body of each URL; of those without a date the last one."""
    found = {}
    for url, date, body in captures:
        if url not in found or not date or not found[url][0] or date >= found[url][0]:
            found[url] = (date, body)
    return {url: body for url, (date, body) in found.items()}


def digests(raw, body):
    for data in (raw, body):
        for name in ("sha1", "sha256"):
            digest = hashlib.new(name, data).digest()
            yield f"{name}:{digest.hex()}"
            yield f"{name}:{base64.b32encode(digest).decode().lower().rstrip('=')}"


def read_warc(data):
    """What warcio reads. It resolves no revisit records, so this function does, by ISO 28500 §6.7."""
    methods, captures, known, waiting = {}, [], {}, []
    for record in ArchiveIterator(io.BytesIO(data)):
        field = record.rec_headers.get_header
        url, date, kind = field("WARC-Target-URI"), field("WARC-Date"), record.rec_type
        if kind == "request":
            methods[field("WARC-Concurrent-To")] = record.http_headers.protocol
            record.content_stream().read()
            continue
        status = int(record.http_headers.get_statuscode()) if record.http_headers else 200
        is_web = (url or "").startswith("http")
        if kind == "revisit":
            names = [field("WARC-Payload-Digest") and field("WARC-Payload-Digest").lower(), field("WARC-Refers-To"),
                     (field("WARC-Refers-To-Target-URI"), field("WARC-Refers-To-Date"))]
            if not any(names[:2]) and not names[2][1]:
                names.append(url)
            waiting.append((url, date, names, field("WARC-Record-ID")))
        elif is_web and kind in ("response", "resource"):
            body = record.content_stream().read()
            for name in [field("WARC-Record-ID"), (url, date), url, *digests(body, body)]:
                known[name] = body
            if field("WARC-Payload-Digest"):
                known[field("WARC-Payload-Digest").lower()] = body
            if 200 <= status < 400 and status != 304:
                captures.append((url, date, body, field("WARC-Record-ID")))
    while True:
        ready = [item for item in waiting if any(name in known for name in item[2])]
        if not ready:
            break
        for item in ready:
            waiting.remove(item)
            url, date, names, identifier = item
            body = next(known[name] for name in names if name in known)
            known[identifier] = body
            captures.append((url, date, body, identifier))
    return newest((stored_url(url), date, body) for url, date, body, identifier in captures
                  if methods.get(identifier, "GET") == "GET")


def read_har(data):
    """What Python's json reads: a response counts if its body is there as far as its sizes say."""
    if data.startswith(b"\x1f\x8b"):
        data = gzip.decompress(data)
    log = json.JSONDecoder().raw_decode(data.decode("utf-8-sig").strip())[0]["log"]
    captures = []
    for entry in log["entries"]:
        def member(*path, kind, absent=None):
            value = entry
            for name in path:
                value = value.get(name) if isinstance(value, dict) else None
            is_right = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
            return value if is_right else absent

        url, method = member("request", "url", kind=str), member("request", "method", kind=str)
        status = member("response", "status", kind=int, absent=0)
        fields = {}
        for field in member("response", "headers", kind=list, absent=[]):
            if isinstance(field, dict) and isinstance(field.get("name"), str) and isinstance(field.get("value"), str):
                fields.setdefault(field["name"].lower(), []).extend(field["value"].split("\n"))
        text = member("response", "content", "text", kind=str)
        if url is None or method != "GET" or not 200 <= status < 400 or status == 304 or text is None:
            continue
        if "no-store" in ",".join(fields.get("cache-control", [])):
            continue
        is_packed = member("response", "content", "encoding", kind=str) == "base64"
        body = base64.b64decode(text) if is_packed else text.encode("utf-8", "surrogatepass")
        length = int(fields.get("content-length", ["0"])[0])
        if len(body) < max(member("response", "content", "size", kind=int, absent=0), length):
            continue
        date = member("startedDateTime", kind=str)
        captures.append((stored_url(url), date if date and date.startswith("20") else None, body))
    return newest(captures)
