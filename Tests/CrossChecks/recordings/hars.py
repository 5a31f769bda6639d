"""HAR files as programs write them."""

import base64
import gzip
import json

from warcs import Case

SITE = "https://shop.example/"
PAGE = "<p>hello größe</p>\n"
DATE = "2026-11-20T09:30:00.000Z"


def entry(url="page", text=PAGE, fields=(("Content-Type", "text/html; charset=utf-8"),), date=DATE, **content):
    url = url if "://" in url else SITE + url
    body = {"mimeType": "text/html", "size": len(text.encode("utf-8", "replace")) if text is not None else 0}
    if text is not None:
        body["text"] = text
    body.update(content)
    return {
        "startedDateTime": date,
        "time": 12,
        "request": {"method": "GET", "url": url, "httpVersion": "HTTP/1.1", "cookies": [], "headers": [],
                    "queryString": [], "headersSize": -1, "bodySize": 0},
        "response": {"status": 200, "statusText": "OK", "httpVersion": "HTTP/1.1", "cookies": [],
                     "headers": [{"name": name, "value": value} for name, value in fields], "content": body,
                     "redirectURL": "", "headersSize": -1, "bodySize": -1},
        "cache": {},
        "timings": {"send": 0, "wait": 1, "receive": 1},
    }


GOOD = entry("good", "good")


def har(*entries, **members):
    return {"log": {"version": "1.2", "creator": {"name": "x", "version": "1"}, "pages": [], "entries": list(entries),
                    **members}}


def text(value, **options):
    return json.dumps(value, **options).encode()


def with_(path, value, source=None):
    """An entry with a member of another value; Ellipsis removes the member."""
    changed = json.loads(json.dumps(source or entry()))
    place = changed
    *parents, last = path.split(".")
    for name in parents:
        place = place[int(name) if name.isdigit() else name]
    if value is ...:
        del place[last]
    else:
        place[int(last) if last.isdigit() else last] = value
    return changed


URLS = [
    "x?a[]=1", "x?a|b", "x?a{1}", "x?q=100%", "x?q=%zz", "x?f[a]=1|2", "p%25/x", "a%5B1%5D.html", "x?q=50%&r=[1]",
    "x?q=%E3%81%82&t=100%", "x?a=\\b", "x?a^b`c", "x?a='b'", "x?q=%2f%2F", "x?a=b#c", "x?", "x?%", "x?{}|\\^`[]%a",
]


def corpus():
    for number, url in enumerate(URLS):
        yield Case(f"url-{number}", text(har(entry(url), GOOD)), suffix="har")
    for options in ({"indent": 1}, {"indent": "\t"}, {"ensure_ascii": False}, {"separators": (",", ":")}):
        yield Case(f"form-{next(iter(options))}-{len(text(1, **options))}-{len(str(options))}",
                   text(har(entry(), GOOD), **options), suffix="har")
    whole = har(entry(), GOOD)
    yield Case("form-mark", b"\xef\xbb\xbf" + text(whole), suffix="har")
    yield Case("form-space", b"\n\n" + text(whole) + b"\r\n\r\n ", suffix="har")
    yield Case("form-gzip", gzip.compress(text(whole)), suffix="har.gz")
    yield Case("form-order", text({"log": dict(reversed(whole["log"].items()))}), suffix="har")
    yield Case("form-other-members", text({"x": {"log": [1, "}"]}, **whole, "y": "\\\""}), suffix="har")
    yield Case("form-pages", text(har(entry(), pages=[{"title": "]}\\\""}] * 50)), suffix="har")
    yield Case("form-deep", text(with_("cache", json.loads("[" * 90 + "]" * 90), har(entry())["log"]["entries"][0])
                                 and har(with_("cache", json.loads("[" * 90 + "]" * 90)), GOOD)), suffix="har")
    yield Case("form-no-version", text(har(entry(), version=None)), suffix="har")
    yield Case("form-no-creator", text(har(entry(), creator=None, comment="x")), suffix="har")
    yield Case("form-nan", text(har(with_("time", float("nan")), with_("timings.wait", float("inf"), GOOD))), suffix="har")
    yield Case("text-after", text(whole) + b"{}", suffix="har")
    yield Case("text-escapes", text(har(entry(text="a\u2028\U0001f600\"\\/\b\f\n\t\x7f"), GOOD)), suffix="har")
    data = bytes(range(256)) * 3
    packed = base64.b64encode(data).decode()
    binary = {"encoding": "base64", "size": len(data)}
    types = (("Content-Type", "image/png"),)
    yield Case("base64", text(har(entry(text=packed, fields=types, **binary))), suffix="har")
    lines = "\r\n".join(packed[start : start + 76] for start in range(0, len(packed), 76))
    yield Case("base64-lines", text(har(entry(text=lines, fields=types, **binary))), suffix="har")
    yield Case("base64-empty", text(har(entry(text="", encoding="base64", size=0))), suffix="har")
    for path in ("response.headers", "request.headers", "timings", "cache", "startedDateTime", "time",
                 "request.cookies", "request.queryString", "response.content.mimeType", "response.statusText",
                 "response.redirectURL", "response.bodySize", "response.content.size", "response.cookies"):
        for name, value in (("null", None), ("missing", ...), ("list", [{}]), ("number", 7), ("text", "x")):
            if (path, name) in (("response.content.size", "number"), ("response.bodySize", "number")):
                continue
            yield Case(f"member-{path}-{name}", text(har(with_(path, value), GOOD)), suffix="har")
    for name, value in (("null", None), ("number", 5), ("object", {}), ("flag", True)):
        field = {"name": "X-Odd", "value": value}
        yield Case(f"field-{name}", text(har(with_("response.headers.0", field), GOOD)), suffix="har")
        yield Case(f"entry-{name}", text(har(value, entry(), GOOD)), suffix="har")
        yield Case(f"request-{name}", text(har(with_("request", value), GOOD)), suffix="har")
        yield Case(f"response-{name}", text(har(with_("response", value), GOOD)), suffix="har")
        yield Case(f"text-{name}", text(har(with_("response.content.text", value), GOOD)), suffix="har")
    yield Case("field-without-value", text(har(with_("response.headers.0", {"name": "X"}), GOOD)), suffix="har")
    yield Case("field-without-name", text(har(with_("response.headers.0", {"value": "X"}), GOOD)), suffix="har")
    yield Case("field-lines-no-store", text(har(entry(fields=(("cache-control", "no-store\nprivate"),)), GOOD)), suffix="har")
    yield Case("field-lines", text(har(entry(fields=(("Cache-Control", "max-age=60\npublic"),)), GOOD)), suffix="har")
    yield Case("body-missing", text(har(entry(text=None, size=700), GOOD)), suffix="har")
    yield Case("body-empty-of-700", text(har(entry(text="", size=700), GOOD)), suffix="har")
    yield Case("body-short", text(har(entry(text="short", size=4000), GOOD)), suffix="har")
    yield Case("body-long", text(har(entry(size=3), GOOD)), suffix="har")
    yield Case("body-length", text(har(entry(text="", fields=(("Content-Length", "4215"),)), GOOD)), suffix="har")
    yield Case("body-empty", text(har(entry(text="", fields=(("Content-Length", "0"),)), GOOD)), suffix="har")
    good, bad = entry(text="hello"), entry(text="", size=5, date="2026-11-21T00:00:00Z")
    yield Case("captures-empty-after-good", text(har(good, bad)), suffix="har")
    newer = entry(text="newer", date="2026-11-21T00:00:00Z")
    yield Case("captures-newer-first", text(har(newer, good)), suffix="har")
    yield Case("captures-newer-last", text(har(good, newer)), suffix="har")
    odd = text(har(entry("odd", "AB\ud83dCD"), GOOD))
    why = "Python keeps half a surrogate pair, which no text in UTF-8 has"
    yield Case("half-a-pair", odd, {"odd": None, "good": b"good"}, why, suffix="har")
    why = "Python refuses the whole file"
    yield Case("not-utf-8", text(har(entry("odd", "AB#CD"), GOOD)).replace(b"#", b"\xff"),
               {"odd": None, "good": b"good"}, why, suffix="har")
    whole = text(har(GOOD, entry("cut")))
    yield Case("cut-off", whole[: len(whole) - 60], {"good": b"good"}, why, suffix="har")
