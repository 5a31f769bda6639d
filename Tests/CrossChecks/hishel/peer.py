"""Runs hishel's state machine on a conversation, as a private cache that stores responses to GET."""

import uuid

from hishel import CacheOptions, Entry, Headers, IdleClient, Request, Response
from hishel._core import _spec

OPTIONS = CacheOptions(shared=False, supported_methods=["GET"])


class Clock:
    """Replaces the module `time` in the state machine."""

    now = 0

    def time(self):
        return self.now


def reports(conversation, repairs=()):
    """hishel's report for each step; `repairs` names the behaviour to correct first (see explanations.py)."""
    clock = _spec.time = Clock()
    cache = Cache(clock, repairs)
    return [cache.take(step, number) for number, step in enumerate(conversation["steps"])]


class Cache:
    def __init__(self, clock, repairs):
        self.clock = clock
        self.repairs = repairs
        self.entries = {}
        self.bodies = {}

    def take(self, step, number):
        url = step["request"]["url"]
        entries = self.entries.setdefault(url, [])
        request = Request(step["request"]["method"], url, headers(step["request"]))
        self.clock.now = step["sent"]
        state = IdleClient(options=OPTIONS).next(request, list(entries))
        report = {}
        outdated = None
        while True:
            match type(state).__name__:
                case "CacheMiss" | "NeedRevalidation":
                    is_conditional = conditions(state.request) != conditions(request)
                    report.setdefault("verdict", "validate" if is_conditional else "forward")
                    self.clock.now = step["received"]
                    if type(state).__name__ == "NeedRevalidation" and "replaced" in self.repairs:
                        outdated = [e.id for e in state.revalidating_entries if _spec.vary_headers_match(request, e)]
                    answer = (is_conditional and step["notModified"]) or step["response"]
                    state = state.next(Response(answer["status"], headers(answer)))
                case "StoreAndUse":
                    entries[:] = [entry for entry in entries if entry.id not in (outdated or [])]
                    entry = Entry(uuid.uuid4(), request, state.response)
                    entries.append(entry)
                    self.bodies[entry.id] = number
                    return report | {"outcome": "stored"}
                case "CouldNotBeStored":
                    if state.response.status_code < 400:
                        entries[:] = [entry for entry in entries if entry.id not in (outdated or [])]
                    return report | {"outcome": "refused"}
                case "FromCache":
                    served = {"body": self.bodies[state.entry.id], "answer": "whole"}
                    return {"verdict": "hit"} | report | served
                case "NeedToBeUpdated":
                    updated = {entry.id: entry for entry in state.updating_entries}
                    entries[:] = [updated.get(entry.id, entry) for entry in entries]
                    if "oldest" in self.repairs:
                        state.updating_entries.reverse()
                    report["outcome"] = "freshened"
                    state = state.next()
                case "InvalidateEntries":
                    if outdated is None or answer["status"] == 304:
                        entries[:] = [entry for entry in entries if entry.id not in state.entry_ids]
                    state = state.next()


def headers(message):
    grouped = {}
    for name, value in message["fields"]:
        grouped.setdefault(name.lower(), []).append(value)
    return Headers(grouped)


def conditions(request):
    return [request.headers.get(name) for name in ("if-none-match", "if-modified-since")]
