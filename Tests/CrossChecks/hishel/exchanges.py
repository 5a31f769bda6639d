"""Makes conversations of a client with an origin. The seed determines all of them.

A conversation is a few requests, mostly for one URL, each with the response that the origin would send. The cache
decides whether the origin gets the request.
"""

import random
from email.utils import formatdate

START = 1_800_000_000
SITE = "https://shop.example"

GAPS = [0, 1, 5, 30, 59, 60, 61, 299, 300, 301, 3_599, 3_600, 3_601, 86_400, 864_000]

RESPONSE_CONTROL = [
    "max-age=60",
    "max-age=300",
    "max-age=3600",
    "max-age=0",
    "MAX-AGE=300",
    'max-age="300"',
    "max-age=99999999999",
    "max-age=soon",
    "max-age=-1",
    "max-age=60, max-age=3600",
    "max-age=3600, must-revalidate",
    "max-age=300, proxy-revalidate",
    "max-age=300, immutable",
    "max-age=60, stale-while-revalidate=300",
    "max-age=60, stale-if-error=3600",
    "s-maxage=3600",
    "s-maxage=0, max-age=300",
    "public",
    "public, max-age=300",
    "private",
    "private, max-age=300",
    'private="set-cookie"',
    "no-cache",
    "no-cache, max-age=300",
    'no-cache="set-cookie", max-age=300',
    "no-store",
    "no-store, max-age=300",
    "must-understand, no-store, max-age=300",
    "must-revalidate",
    'community="UCI", max-age=300',
    ", max-age=300 ,",
]

REQUEST_CONTROL = [
    "no-cache",
    "no-store",
    "max-age=0",
    "max-age=30",
    "max-age=300",
    "max-stale",
    "max-stale=60",
    "max-stale=3600",
    "min-fresh=30",
    "min-fresh=300",
    "only-if-cached",
    "max-age=600, max-stale=60",
    "no-transform",
]

STATUSES = [203, 204, 206, 300, 301, 302, 307, 308, 400, 403, 404, 405, 410, 412, 414, 416, 429, 500, 501, 503, 599]


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def conversations(self, count):
        return [self.conversation(number) for number in range(count)]

    def conversation(self, number):
        choose = self.random
        path = choose.choice(["/item", "/item", "/item", "/item?page=2"])
        site = SITE if choose.random() < 0.9 else SITE.replace("https", "http")
        tag = f'"{choose.choice("abc")}"'
        # At most two kinds of oddity in a conversation, so that one difference seldom hides another.
        odd = set(choose.sample(ODDITIES, choose.choice([0, 0, 1, 1, 2])))
        now = START + choose.randrange(86_400)
        steps = []
        for _ in range(choose.choice([2, 3, 3, 4])):
            received = now + (choose.choice([0, 1, 5, 90]) if "delay" in odd else 0)
            request = self.request(site, path, tag, odd)
            steps.append(
                {
                    "sent": now,
                    "received": received,
                    "request": request,
                    "response": self.response(site, received, tag, odd),
                    "notModified": self.not_modified(received, tag, odd) if choose.random() < 0.7 else None,
                }
            )
            now = received + choose.choice(GAPS)
            if "clock" in odd and choose.random() < 0.3:
                now -= choose.choice([30, 120, 7200])
        return {"number": number, "steps": steps}

    def request(self, site, path, tag, odd):
        choose = self.random
        fields = []
        if choose.random() < 0.5:
            fields.append(["Accept-Language", choose.choice(["de", "en"])])
        if "request-control" in odd and choose.random() < 0.6:
            fields.append(["Cache-Control", choose.choice(REQUEST_CONTROL)])
        if "pragma" in odd and choose.random() < 0.5:
            fields.append(["Pragma", "no-cache"])
        if "login" in odd:
            fields.append(["Authorization", "Basic YTpi"])
        if "conditions" in odd and choose.random() < 0.6:
            fields.append(
                choose.choice(
                    [
                        ["If-None-Match", tag],
                        ["If-None-Match", '"x"'],
                        ["If-Modified-Since", formatdate(START - 86_400, usegmt=True)],
                        ["If-Match", tag],
                        ["Range", "bytes=0-3"],
                    ]
                )
            )
        method = "GET"
        if "methods" in odd and choose.random() < 0.5:
            method = choose.choice(["HEAD", "HEAD", "POST", "PUT", "DELETE", "OPTIONS"])
        return {"method": method, "url": site + path, "fields": fields}

    def response(self, site, received, tag, odd):
        choose = self.random
        status = choose.choice(STATUSES) if "status" in odd and choose.random() < 0.6 else 200
        fields = self.dated(received, odd)
        if choose.random() < 0.8:
            plain = ["max-age=60", "max-age=300", "max-age=3600"]
            fields.append(["Cache-Control", choose.choice(RESPONSE_CONTROL if "control" in odd else plain)])
        if "control" in odd and choose.random() < 0.1:
            fields.append(["Cache-Control", choose.choice(RESPONSE_CONTROL)])
        if "expires" in odd and choose.random() < 0.8:
            fields.append(["Expires", self.expiry(received)])
        if choose.random() < 0.6:
            fields.append(["ETag", choose.choice([tag, tag, tag, "W/" + tag if "tags" in odd else '"d"'])])
        if choose.random() < 0.5:
            fields.append(["Last-Modified", formatdate(received - choose.choice([100, 86_400, 10**7, 10**9]), usegmt=True)])
        if "vary" in odd and choose.random() < 0.7:
            fields.append(["Vary", choose.choice(["Accept-Language", "accept-language", "Accept-Language, Accept", "*"])])
        if "methods" in odd and choose.random() < 0.3:
            fields.append([choose.choice(["Location", "Content-Location"]), site + "/item"])
        if choose.random() < 0.1:
            fields.append(["Set-Cookie", "a=b"])
        return {"status": status, "fields": fields}

    def not_modified(self, received, tag, odd):
        choose = self.random
        fields = self.dated(received, odd)
        if choose.random() < 0.7:
            fields.append(["ETag", "W/" + tag if "tags" in odd and choose.random() < 0.4 else tag])
        if choose.random() < 0.3:
            fields.append(["Cache-Control", choose.choice(["max-age=60", "max-age=3600"])])
        return {"status": 304, "fields": fields}

    def dated(self, received, odd):
        choose = self.random
        fields = []
        if "date" not in odd or choose.random() < 0.3:
            fields.append(["Date", formatdate(received, usegmt=True)])
        elif choose.random() < 0.8:
            skew = choose.choice([-3600, -300, -60, -5, 5, 60, 3600])
            fields.append(["Date", choose.choice([formatdate(received + skew, usegmt=True)] * 5 + ["yesterday"])])
        if "age" in odd and choose.random() < 0.6:
            fields.append(["Age", choose.choice(["0", "10", "59", "300", "4000", "10, 20", "old", "-5", "99999999999"])])
        return fields

    def expiry(self, received):
        choose = self.random
        date = formatdate(received + choose.choice([-300, 0, 60, 300, 3600]), usegmt=True)
        return choose.choice([date, date, date, date, "0", "-1", "never", date.replace("GMT", "+0200")])


ODDITIES = [
    "age",
    "clock",
    "conditions",
    "control",
    "control",
    "date",
    "delay",
    "expires",
    "login",
    "methods",
    "pragma",
    "request-control",
    "request-control",
    "status",
    "tags",
    "vary",
]
