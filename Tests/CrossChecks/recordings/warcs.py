"""WARC files as programs write them: each with the responses that a reader should find, if warcio's reading is not it."""

import base64
import gzip
import hashlib
import zlib

import brotlicffi as brotli
import zstandard

BODY = b"<html>hello world, this is a page</html>\n"
TEXT = BODY * 40
BYTES = bytes(range(256)) * 20
PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(200, 256)) * 9
SITE = "https://shop.example/"


class Case:
    """A file, and the bodies that Waystation should have in place of those of its peer; None for no response."""

    def __init__(self, name, data, instead=None, why="", suffix="warc"):
        self.name, self.data, self.instead, self.why, self.suffix = name, data, instead or {}, why, suffix


def record(kind, url, block, version="1.1", end=b"\r\n\r\n", newline="\r\n", date="2026-11-20T09:30:00Z", **fields):
    lines = [f"WARC/{version}", f"WARC-Type: {kind}"]
    if url:
        lines.append(f"WARC-Target-URI: {url}")
    names = {name.replace("_", "-"): value for name, value in fields.items()}
    lines += [f"WARC-Date: {date}"] if date else []
    if "WARC-Record-ID" not in names:
        lines.append(f"WARC-Record-ID: <urn:uuid:{hashlib.sha1(repr((kind, url, date)).encode()).hexdigest()}>")
    lines += [f"{name}: {value}" for name, value in names.items()]
    lines.append(f"Content-Length: {len(block)}")
    return (newline.join(lines) + newline * 2).encode() + block + end


def message(body, *fields, status="200 OK", newline="\r\n", version="HTTP/1.1"):
    lines = [f"{version} {status}", "Content-Type: text/html", *fields]
    return (newline.join(lines) + newline * 2).encode() + body


def response(path, body, *fields, status="200 OK", **others):
    others.setdefault("Content_Type", "application/http; msgtype=response")
    return record("response", SITE + path, message(body, *fields, status=status), **others)


def chunked(body, size=100, extension=b"", pad=b"", trailer=b"", upper=False):
    result = b""
    for start in range(0, len(body), size):
        chunk = body[start : start + size]
        digits = b"%X" % len(chunk) if upper else b"%x" % len(chunk)
        result += pad + digits + pad + extension + b"\r\n" + chunk + b"\r\n"
    return result + b"0\r\n" + trailer + b"\r\n"


def raw_deflate(data):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


def base32(body):
    return "sha1:" + base64.b32encode(hashlib.sha1(body).digest()).decode()


GOOD = response("good", BODY)
CHUNKED = "Transfer-Encoding: chunked"


def coding(name):
    return f"Content-Encoding: {name}"


def bodies():
    """Bodies as servers send them, and as programs record them."""
    packed = gzip.compress(TEXT)
    yield "plain", TEXT, []
    yield "bytes", BYTES, []
    yield "empty", b"", []
    yield "length", TEXT, [f"Content-Length: {len(TEXT)}"]
    yield "length-of-the-coded-body", TEXT, ["Content-Length: 63"]
    yield "length-and-coding-of-a-decoded-body", TEXT, [f"Content-Length: {len(packed)}", coding("gzip")]
    yield "longer-length-of-a-decoded-body", b"hi", [f"Content-Length: {len(gzip.compress(b'hi'))}", coding("gzip")]
    yield "chunked", chunked(TEXT), [CHUNKED]
    yield "chunked-extension", chunked(TEXT, extension=b";x=1"), [CHUNKED]
    yield "chunked-space", chunked(TEXT, pad=b"  "), [CHUNKED]
    yield "chunked-upper-case", chunked(TEXT, 171, upper=True), [CHUNKED]
    yield "chunked-one", chunked(TEXT, 5000), [CHUNKED]
    yield "chunked-small", chunked(TEXT, 1), [CHUNKED]
    yield "chunked-bytes", chunked(BYTES, 64), [CHUNKED]
    yield "chunked-empty", chunked(b""), [CHUNKED]
    yield "chunked-and-length", chunked(TEXT), [CHUNKED, "Content-Length: 7"]
    yield "chunked-twice", chunked(TEXT), [CHUNKED, CHUNKED]
    yield "dechunked", TEXT, [CHUNKED]
    yield "dechunked-without-line-end", b'{"id": 1}', [CHUNKED]
    yield "dechunked-bytes", PNG, [CHUNKED]
    yield "dechunked-empty", b"", [CHUNKED]
    yield "gzip", packed, [coding("gzip")]
    yield "gzip-length", packed, [coding("gzip"), f"Content-Length: {len(packed)}"]
    yield "gzip-upper-case", packed, [coding("GZIP")]
    yield "gzip-chunked", chunked(packed, 20), [coding("gzip"), CHUNKED]
    yield "gzip-dechunked", packed, [coding("gzip"), CHUNKED]
    yield "gzip-then-bytes", packed + b"\0\0", [coding("gzip")]
    yield "gzip-decoded", TEXT, [coding("gzip")]
    yield "gzip-decoded-bytes", BYTES, [coding("gzip")]
    yield "gzip-decoded-chunked", chunked(TEXT), [coding("gzip"), CHUNKED]
    yield "deflate", zlib.compress(TEXT), [coding("deflate")]
    yield "deflate-raw", raw_deflate(TEXT), [coding("deflate")]
    yield "deflate-decoded", TEXT, [coding("deflate")]
    yield "brotli", brotli.compress(TEXT), [coding("br")]
    yield "brotli-bytes", brotli.compress(BYTES), [coding("br")]
    yield "brotli-decoded", TEXT, [coding("br")]
    yield "brotli-decoded-picture", PNG, [coding("br")]
    for name in ("utf-8", "UTF-8", "identity", "none", "binary", "aws-chunked", "text/html"):
        yield f"coding-{name.replace('/', '-')}", TEXT, [coding(name)]
    yield "folded-field", TEXT, ["X-Long: a", " b"]
    yield "field-without-colon", TEXT, ["nonsense"]


def corpus():
    for name, body, fields in bodies():
        yield Case(f"body-{name}", response("page", body, *fields) + GOOD)
    why = "warcio does not decode Zstandard"
    packed = zstandard.compress(TEXT)
    yield Case("body-zstd", response("page", packed, coding("zstd")), {"page": TEXT}, why)
    yield Case("body-zstd-decoded", response("page", TEXT, coding("zstd")))
    why = "warcio decodes the first member of gzip only; RFC 1952 §2.2 has one text"
    yield Case("body-gzip-members", response("page", gzip.compress(TEXT) * 2, coding("gzip")), {"page": TEXT * 2}, why)
    why = "warcio removes one coding at most"
    twice = brotli.compress(gzip.compress(TEXT))
    yield Case("body-gzip-brotli", response("page", twice, coding("gzip, br")), {"page": TEXT}, why)
    why = "warcio does not say that a body is cut off"
    yield Case("cut-length", response("page", TEXT, "Content-Length: 99999") + GOOD, {"page": None}, why)
    yield Case("cut-chunk", response("page", chunked(TEXT)[:200], CHUNKED) + GOOD, {"page": None}, why)
    yield Case("cut-gzip", response("page", gzip.compress(BYTES)[:90], coding("gzip")) + GOOD, {"page": None}, why)
    yield Case("cut-truncated", response("page", TEXT, WARC_Truncated="length") + GOOD, {"page": None}, why)

    for version in ("0.17", "0.18", "1.0", "1.1"):
        yield Case(f"version-{version}", response("page", TEXT, version=version) + GOOD)
    plain = response("page", TEXT)
    yield Case("end-one-line", response("page", TEXT, end=b"\r\n") + GOOD)
    yield Case("end-lf", response("page", TEXT, end=b"\n\n") + GOOD)
    yield Case("end-one-lf", response("page", TEXT, end=b"\n") + GOOD)
    yield Case("end-four-lines", response("page", TEXT, end=b"\r\n" * 4) + GOOD)
    yield Case("end-of-file", response("page", TEXT, end=b""))
    why = "warcio takes the zeros for a record"
    both = {"page": TEXT, "good": BODY}
    yield Case("end-zeros", plain + GOOD + bytes(512), both, why)
    yield Case("between-zeros", plain + bytes(512) + GOOD, both, why)
    yield Case("header-lf", record("response", SITE + "page", message(TEXT, newline="\n"), newline="\n", end=b"\n\n") + GOOD)
    yield Case("header-folded", plain.replace(b"WARC-Type: response", b"WARC-Type:\r\n response", 1) + GOOD)
    yield Case("header-lower-case", plain.replace(b"WARC-Target-URI", b"warc-target-uri") + GOOD)
    yield Case("uri-in-brackets", plain.replace(b"https://shop.example/page", b"<https://shop.example/page>", 1) + GOOD)
    yield Case("reason-missing", record("response", SITE + "page", message(TEXT, status="200")) + GOOD)
    yield Case("http-1.0", record("response", SITE + "page", message(TEXT, version="HTTP/1.0")) + GOOD)
    whole = plain + GOOD
    yield Case("gz-members", gzip.compress(plain) + gzip.compress(GOOD), suffix="warc.gz")
    yield Case("gz-zeros", gzip.compress(plain) + gzip.compress(GOOD) + bytes(700), both, why, suffix="warc.gz")
    why = "warcio refuses a file with one member; the format allows it"
    yield Case("gz-one-member", gzip.compress(whole), both, why, suffix="warc.gz")
    why = "warcio does not read Zstandard"
    frames = zstandard.compress(plain) + zstandard.compress(GOOD)
    yield Case("zst-frames", frames, both, why, suffix="warc.zst")
    words = zstandard.ZstdCompressionDict(b"WARC/1.1 WARC-Type: response <html>hello world, this is a page</html>" * 9,
                                          dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    packer = zstandard.ZstdCompressor(dict_data=words)
    frames = packer.compress(plain) + packer.compress(GOOD)
    for name, data in (("plain", words.as_bytes()), ("packed", zstandard.compress(words.as_bytes()))):
        mark = b"\x5d\x2a\x4d\x18" + len(data).to_bytes(4, "little")
        yield Case(f"zst-dictionary-{name}", mark + data + frames, both, why, suffix="warc.zst")

    yield from revisits()
    why = "the newest capture of a URL is stored"
    new, old = (response("page", body, date=date) for body, date in
                ((b"new", "2026-11-22T00:00:00Z"), (b"old", "2026-11-20T00:00:00Z")))
    yield Case("captures-newer-first", new + old)
    yield Case("captures-newer-last", old + new)
    yield Case("resource", record("resource", SITE + "page", TEXT, Content_Type="text/html") + GOOD)
    yield Case("metadata", record("metadata", SITE + "page", b"via: x\r\n", Content_Type="application/warc-fields") + GOOD)
    yield Case("conversion", record("conversion", SITE + "page", TEXT, Content_Type="text/plain") + GOOD)
    yield Case("warcinfo", record("warcinfo", None, b"software: x\r\n", Content_Type="application/warc-fields") + plain)
    yield Case("dns", record("response", "dns:shop.example", b"20261120\nshop.example. A 192.0.2.1\n",
                             Content_Type="text/dns") + plain)
    asked = b"POST /page HTTP/1.1\r\nHost: shop.example\r\n\r\n"
    yield Case("post", response("page", TEXT, WARC_Record_ID="<urn:a>")
               + record("request", SITE + "page", asked, WARC_Concurrent_To="<urn:a>") + GOOD)


def revisits():
    original = response("one", TEXT, WARC_Payload_Digest=base32(TEXT), WARC_Record_ID="<urn:one>")
    head = message(b"")
    profile = "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"

    def revisit(block=head, path="two", date="2026-11-21T00:00:00Z", **fields):
        fields.setdefault("WARC_Profile", profile)
        return record("revisit", SITE + path, block, date=date, **fields)

    target = {"WARC_Refers_To_Target_URI": SITE + "one", "WARC_Refers_To_Date": "2026-11-20T09:30:00Z"}
    digest = {"WARC_Payload_Digest": base32(TEXT)}
    hexadecimal = {"WARC_Payload_Digest": "sha1:" + hashlib.sha1(TEXT).hexdigest()}
    yield Case("revisit-digest", original + revisit(**digest))
    yield Case("revisit-digest-first", revisit(**digest) + original)
    yield Case("revisit-hexadecimal", original + revisit(**hexadecimal))
    yield Case("revisit-lower-case", original + revisit(WARC_Payload_Digest=base32(TEXT).lower()))
    yield Case("revisit-record-id", original + revisit(WARC_Refers_To="<urn:one>"))
    yield Case("revisit-target-and-date", original + revisit(**target))
    yield Case("revisit-target-and-date-first", revisit(**target) + original)
    yield Case("revisit-all", original + revisit(WARC_Refers_To="<urn:one>", **target, **digest))
    yield Case("revisit-without-block", original + revisit(b"", **target, **digest))
    yield Case("revisit-old-profile", original + revisit(
        **digest, WARC_Profile="http://netpreserve.org/warc/0.18/revisit/identical-payload-digest"))
    yield Case("revisit-unstated-digest", response("one", TEXT) + revisit(**digest))
    yield Case("revisit-unstated-sha256", response("one", TEXT)
               + revisit(WARC_Payload_Digest="sha256:" + hashlib.sha256(TEXT).hexdigest()))
    yield Case("revisit-of-revisit", original + revisit(WARC_Record_ID="<urn:two>", **digest)
               + revisit(path="three", WARC_Refers_To="<urn:two>"))
    yield Case("revisit-same-url", original + revisit(path="one", **target, **digest))
    yield Case("revisit-head-without-end", original + revisit(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n", **digest))
    unmodified = message(b"", "ETag: \"1\"", status="304 Not Modified")
    yield Case("revisit-not-modified", original + revisit(
        unmodified, path="one", **target,
        WARC_Profile="http://netpreserve.org/warc/1.1/revisit/server-not-modified"))
    yield Case("revisit-not-modified-by-url", original + revisit(
        unmodified, path="one", WARC_Profile="http://netpreserve.org/warc/1.0/revisit/server-not-modified"))
    yield Case("revisit-unknown", original + revisit(WARC_Payload_Digest="sha1:" + "A" * 32))
