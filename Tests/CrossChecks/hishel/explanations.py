"""The reasons why hishel and Waystation may differ: each rule with its section, and a way to show that it applies.

A rule explains a difference under two conditions. Both sides did what the rule says (`shows`). And the difference
disappears when the rule cannot apply: either the fields that it is about are removed from the conversation (`change`),
or hishel's behaviour is corrected (`repair`).
"""

import copy
import re
from dataclasses import dataclass
from email.utils import formatdate
from typing import Callable, Optional


@dataclass
class Rule:
    name: str
    section: str
    why: str
    # Whether the reports, theirs and ours, are as the rule says.
    shows: Callable[[dict, dict], bool]
    change: Optional[Callable[[dict], None]] = None
    repair: Optional[str] = None

    def changed(self, conversation):
        other = copy.deepcopy(conversation)
        if self.change:
            self.change(other)
        return other


def requests(conversation):
    return [step["request"] for step in conversation["steps"]]


def answers(conversation):
    return [step[key] for step in conversation["steps"] for key in ("response", "notModified") if step[key]]


def drop(part, *names):
    """Removes fields."""

    def change(conversation):
        for message in part(conversation):
            message["fields"] = [field for field in message["fields"] if field[0] not in names]

    return change


def directives(part, pattern, to=""):
    """Removes directives of Cache-Control, or replaces them."""

    def change(conversation):
        for message in part(conversation):
            for field in message["fields"]:
                if field[0] == "Cache-Control":
                    members = re.findall(r'[^,"]*(?:"[^"]*"[^,"]*)*', field[1])
                    members = [member.strip() for member in members if member.strip()]
                    field[1] = ", ".join(re.sub(pattern, to, member) for member in members)
            message["fields"] = [field for field in message["fields"] if field[1].strip(", ")]

    return change


def methods(old, new):
    def change(conversation):
        for request in requests(conversation):
            if request["method"] == old:
                request["method"] = new

    return change


def statuses(*codes):
    def change(conversation):
        for answer in answers(conversation):
            if answer["status"] in codes:
                answer["status"] = 200

    return change


def dated(conversation):
    for step in conversation["steps"]:
        for answer in (step["response"], step["notModified"]):
            if answer:
                fields = [field for field in answer["fields"] if field[0] != "Date"]
                answer["fields"] = [["Date", formatdate(step["received"], usegmt=True)]] + fields


def without_delay(conversation):
    for step in conversation["steps"]:
        step["sent"] = step["received"]


def steady(conversation):
    latest = 0
    for step in conversation["steps"]:
        back = max(0, latest - step["sent"])
        step["sent"] += back
        step["received"] += back
        latest = step["received"]
    dated(conversation)


def without_query(conversation):
    for request in requests(conversation):
        request["url"] = request["url"].split("?")[0]


def one_control(conversation):
    """Keeps the first of several `max-age` directives."""
    for answer in answers(conversation):
        lines = [field for field in answer["fields"] if field[0] == "Cache-Control"]
        members = [member.strip() for line in lines for member in line[1].split(",")]
        ages = [member for member in members if member.lower().startswith("max-age")]
        rest = [field for field in answer["fields"] if field[0] != "Cache-Control"]
        if len(ages) > 1:
            kept = [member for member in members if member not in ages[1:] or member == ages[0]]
            answer["fields"] = rest + [["Cache-Control", ", ".join(dict.fromkeys(kept))]]


def zoned(conversation):
    for answer in answers(conversation):
        for field in answer["fields"]:
            if field[0] == "Expires" and "+0200" in field[1]:
                field[1] = "0"


def bare(conversation):
    for step in conversation["steps"]:
        if step["notModified"]:
            drop(lambda _: [step["notModified"]], "ETag")(conversation)


def without_not_modified(conversation):
    for step in conversation["steps"]:
        step["notModified"] = None


def asks_first(theirs, ours):
    return theirs["verdict"] == "hit" and ours["verdict"] in ("validate", "forward", "timeout", "stale")


def asks_less(theirs, ours):
    return theirs["verdict"] in ("validate", "forward") and ours["verdict"] in ("hit", "stale")


def asks_otherwise(theirs, ours):
    return asks_first(theirs, ours) or asks_less(theirs, ours)


def refuses(theirs, ours):
    return theirs.get("outcome") == "stored" and ours.get("outcome") == "refused"


def stores(theirs, ours):
    return theirs.get("outcome") == "refused" and ours.get("outcome") == "stored"


def is_stale(theirs, ours):
    return ours["verdict"] == "stale" and theirs["verdict"] != "stale"


def times_out(theirs, ours):
    return ours["verdict"] == "timeout"


def validates_otherwise(theirs, ours):
    return {theirs["verdict"], ours["verdict"]} <= {"validate", "forward"}


def any_of(*conditions):
    return lambda theirs, ours: any(condition(theirs, ours) for condition in conditions)


def serves_another(theirs, ours):
    return theirs["verdict"] == ours["verdict"] and theirs.get("body") != ours.get("body")


def serves_part(theirs, ours):
    return ours.get("answer") in ("notModified", "head", "part") and theirs.get("answer") != ours["answer"]


RULES = [
    Rule(
        "request no-store",
        "RFC 9111 §5.2.1.5",
        "A cache MUST NOT store any part of such a request or of a response to it: a 304 to it updates nothing.",
        any_of(refuses, asks_first, is_stale),
        directives(requests, r"^no-store$"),
    ),
    Rule(
        "request max-age",
        "RFC 9111 §5.2.1.1",
        "The client prefers a response no older than that; ours asks when it is older.",
        asks_first,
        directives(requests, r"^max-age=.*"),
    ),
    Rule(
        "request min-fresh",
        "RFC 9111 §5.2.1.3",
        "The client prefers a response that stays fresh for so long; ours asks when it does not.",
        asks_first,
        directives(requests, r"^min-fresh=.*"),
    ),
    Rule(
        "request max-stale",
        "RFC 9111 §5.2.1.2, §4.2.4",
        "The client accepts what is stale by so much, and so ours serves it.",
        is_stale,
        directives(requests, r"^max-stale.*"),
    ),
    Rule(
        "request only-if-cached",
        "RFC 9111 §5.2.1.7",
        "Nothing but a stored response is wanted: without one ours answers 504, and asks no server.",
        times_out,
        directives(requests, r"^only-if-cached$"),
    ),
    Rule(
        "Pragma: no-cache",
        "RFC 9111 §5.4",
        "A request with it and without Cache-Control is to be taken as one with no-cache.",
        asks_first,
        drop(requests, "Pragma"),
    ),
    Rule(
        "request conditions",
        "RFC 9111 §4.3.2",
        "A cache SHOULD evaluate the client's If-None-Match and If-Modified-Since itself: ours answers 304 for a fresh "
        "response that the client has, and passes the client's tags on when it asks.",
        any_of(serves_part, validates_otherwise),
        drop(requests, "If-None-Match", "If-Modified-Since"),
    ),
    Rule(
        "request If-Match",
        "RFC 9111 §4.3.2",
        "A cache MUST NOT evaluate conditions that are for the origin alone; ours forwards the request.",
        any_of(asks_first, validates_otherwise),
        drop(requests, "If-Match"),
    ),
    Rule(
        "request Range",
        "RFC 9110 §14.2, RFC 9111 §3.3",
        "A complete stored response answers a range, by the part or by the whole.",
        any_of(asks_less, validates_otherwise, stores),
        drop(requests, "Range"),
    ),
    Rule(
        "HEAD from GET",
        "RFC 9110 §9.3.2, RFC 9111 §4",
        "A stored GET response answers HEAD too.",
        any_of(refuses, serves_part, validates_otherwise),
        methods("HEAD", "GET"),
    ),
    Rule(
        "HEAD updates GET",
        "RFC 9111 §4.3.5",
        "A 200 to HEAD SHOULD update or invalidate the stored GET response: by other validators it is out of date.",
        asks_otherwise,
        methods("HEAD", "OPTIONS"),
    ),
    Rule(
        "POST for a later GET",
        "RFC 9110 §9.3.3",
        "A response to POST with an explicit lifetime and a Content-Location that is its URI stands for a later GET.",
        any_of(stores, asks_less),
        drop(answers, "Content-Location"),
    ),
    Rule(
        "Age",
        "RFC 9111 §4.2.3, §5.1",
        "Age says how old the response was on arrival; hishel counts from Date alone.",
        any_of(asks_first, validates_otherwise),
        drop(answers, "Age"),
    ),
    Rule(
        "delay",
        "RFC 9111 §4.2.3",
        "The age counts from when the request was sent: the response may be as old as the time it took.",
        any_of(asks_first, validates_otherwise),
        without_delay,
    ),
    Rule(
        "Date",
        "RFC 9110 §6.6.1, RFC 9111 §4.2.3",
        "Without a valid Date the time of receipt counts, and a Date ahead of the clock makes nothing younger: the "
        "resident time is added always. For hishel the first never ages, the second not until then.",
        any_of(asks_otherwise, validates_otherwise, serves_another),
        dated,
    ),
    Rule(
        "clock set back",
        "RFC 9111 §4, §4.2.3",
        "What was received later than now by more than a minute has no age that can be told: it is validated.",
        any_of(asks_first, validates_otherwise, serves_another),
        steady,
    ),
    Rule(
        "invalid max-age",
        "RFC 9111 §4.2.1",
        "Invalid freshness information SHOULD be taken as stale; hishel goes on to Expires or a guess.",
        any_of(asks_first, refuses, stores, validates_otherwise),
        directives(answers, r"(?i)^max-age=(soon|-1)$", "max-age=0"),
    ),
    Rule(
        "repeated max-age",
        "RFC 9111 §4.2.1",
        "The first of several values counts, as the section encourages; for hishel the last does.",
        asks_otherwise,
        one_control,
    ),
    Rule(
        "Expires with a zone",
        "RFC 9111 §4.2",
        "A date in another zone than GMT SHOULD be taken as invalid, and so as past; hishel ignores the zone.",
        asks_otherwise,
        zoned,
    ),
    Rule(
        "must-understand",
        "RFC 9111 §5.2.2.3",
        "A cache that understands the status code SHOULD ignore the no-store beside it.",
        any_of(stores, asks_less),
        directives(answers, r"^must-understand$"),
    ),
    Rule(
        "stale-while-revalidate",
        "RFC 5861 §3",
        "The response may be served for so long while it is renewed.",
        is_stale,
        directives(answers, r"^stale-while-revalidate=.*"),
    ),
    Rule(
        "heuristics and queries",
        "RFC 9111 §4.2.2",
        "Ours guesses no lifetime for a URL with a query, as RFC 2616 §13.9 had it; CachingRules changes that.",
        asks_first,
        without_query,
    ),
    Rule(
        "heuristic span",
        "RFC 9111 §4.2.2",
        "The guess is a tenth of the time from Last-Modified to Date. hishel measures to the present, so that a response "
        "becomes fresher as it ages.",
        asks_first,
        drop(answers, "Last-Modified"),
    ),
    Rule(
        "Vary: *",
        "RFC 9111 §4.1",
        "No later request matches it, so ours does not keep it.",
        any_of(refuses, validates_otherwise),
        lambda conversation: [
            drop(lambda _: [answer], "Vary")(conversation)
            for answer in answers(conversation)
            if ["Vary", "*"] in answer["fields"]
        ],
    ),
    Rule(
        "no variant matches",
        "RFC 9111 §4.1, §4.3.1, §4.3.4",
        "Ours asks with the tags of all variants, and not with the Last-Modified of one that the request does not select; "
        "a 304 counts only for the variant that it names.",
        any_of(asks_first, validates_otherwise),
        drop(answers, "Vary"),
    ),
    Rule(
        "variant that a 304 names",
        "RFC 9111 §4.1, §4.3.4",
        "What a 304 has named, asked about for a request that no variant matched, may be used for the like of that "
        "request from then on. hishel makes the variant fresh for the requests of old, and for the new ones not.",
        asks_otherwise,
        without_not_modified,
    ),
    Rule(
        "Vary goes first",
        "RFC 9111 §4.1",
        "Where one stored response has a Vary that matches and another has none, the one with it SHOULD be chosen.",
        serves_another,
        drop(answers, "Vary"),
    ),
    Rule(
        "412 and 416",
        "RFC 9111 §4, RFC 9110 §15.5.13, §15.5.17",
        "They answer a condition or a range, which are no part of the key: another request must not get them.",
        refuses,
        statuses(412, 416),
    ),
    Rule(
        "error while validating",
        "RFC 9111 §4.3.3, RFC 5861 §4",
        "A server error is passed on, or the stored response stands in where stale-if-error allows it; it is never stored "
        "in place of what was good.",
        any_of(refuses, lambda theirs, ours: ours.get("outcome") == "standIn"),
        statuses(500, 501, 503, 599),
    ),
    Rule(
        "validators of errors and redirects",
        "RFC 9110 §8.8, RFC 9111 §4.3.1",
        "Validators are those of a selected representation. On an error or a redirect they could make a 304 speak of a "
        "page that has come into being since, so ours asks without them.",
        any_of(validates_otherwise, serves_part),
        statuses(300, 301, 302, 307, 308, 400, 403, 404, 405, 410, 414, 429, 500, 501, 503, 599),
    ),
    Rule(
        "tag of a 304",
        "RFC 9111 §4.3.4",
        "A 304 updates what its validators identify. hishel takes a weak tag for none, and updates a response that the "
        "tag does not name; and it updates one with a weak tag by a strong one.",
        any_of(validates_otherwise, asks_otherwise),
        bare,
    ),
    Rule(
        "most recent",
        "RFC 9111 §4",
        "Of several suitable responses the most recent one MUST be used; after a 304 hishel serves the oldest.",
        any_of(validates_otherwise, serves_another),
        repair="oldest",
    ),
    Rule(
        "replaced by a full response",
        "RFC 9111 §4, §4.1, §4.3.3",
        "A full response to a validation takes the place of what matches the request. hishel keeps one of the stored "
        "responses, which it serves when the newer one is stale, and drops the others, variants for other requests too.",
        any_of(asks_otherwise, validates_otherwise, serves_another),
        repair="replaced",
    ),
]
