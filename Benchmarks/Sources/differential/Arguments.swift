import Measuring

extension Argument {
    /// Every difference from plain URLSession that is right, with the reason.
    ///
    /// An argument names the facts that may differ, so that any other difference in the same scenario still fails.
    static let all: [Argument] = [
        Argument(
            "*",
            variants: ["network", "stored", "hit"],
            facts: ["cache-status"],
            because: "an answer from Waystation has a Cache-Status that says where it came from (RFC 9211)"
        ),
        Argument(
            "*",
            variants: ["hit"],
            facts: ["age"],
            because: "an answer from the cache has an Age field (RFC 9111, section 5.1)"
        ),
        Argument(
            "*",
            variants: ["hit"],
            facts: ["date"],
            because: "a response stored without a Date gets the time of its arrival (RFC 9110, section 6.6.1)"
        ),
        Argument(
            "fail/closed-before-head/*",
            variants: ["stored"],
            facts: ["origin"],
            because: "a safe request whose connection is dropped before a response is sent once more "
                + "(RFC 9110, section 9.2.2)"
        ),
        Argument(
            "fail/reset/*",
            variants: ["stored"],
            facts: ["origin"],
            because: "a safe request whose connection is dropped before a response is sent once more "
                + "(RFC 9110, section 9.2.2)"
        ),
        Argument(
            "h2/broken/*",
            variants: ["stored"],
            facts: ["origin", "connections"],
            because: "a safe request whose connection ends without a response is sent once more "
                + "(RFC 9110, section 9.2.2)"
        ),
        Argument(
            "proxy/connect/*",
            variants: ["stored", "nio"],
            facts: ["calls"],
            because: "the answer to CONNECT is no response to the app's request (RFC 9110, section 9.3.6)"
        ),
        Argument(
            "stale/new-connection-too/*",
            variants: ["stored"],
            facts: ["origin", "connections"],
            because: "a safe request whose connection is dropped before a response is sent once more "
                + "(RFC 9110, section 9.2.2)"
        ),
        Argument(
            "head/1*",
            variants: ["stored", "nio"],
            facts: ["calls"],
            because: "an interim response is not the response (RFC 9110, section 15.2)"
        ),
        Argument(
            "*",
            variants: ["hit"],
            facts: ["origin"],
            because: "the cache answers, so the origin is not asked"
        ),
        Argument(
            "*",
            variants: ["network", "stored", "hit"],
            facts: ["received", "current"],
            because: "only Foundation's own loader can set a task's counts of bytes and its current request"
        ),
        Argument(
            "body/*",
            variants: ["hit"],
            facts: ["fields", "expected"],
            because: "a stored body has a known length, and the fields of its old connection are gone "
                + "(RFC 9111, section 3.1)"
        ),
        Argument(
            "fields/several-set-cookie",
            variants: ["hit"],
            facts: ["fields"],
            because: "an answer sets its cookies only when it arrives, not again from the cache"
        ),
        Argument(
            "fields/cookies-come-back",
            variants: ["hit"],
            facts: ["fields"],
            because: "an answer sets its cookies only when it arrives, not again from the cache"
        ),
        Argument(
            "data/task-delegate",
            variants: ["hit"],
            facts: ["calls"],
            because: "the caller gets the bytes of a hit in one piece; the call's delegate gets the response"
        ),
        Argument(
            "download/task-delegate",
            variants: ["stored", "nio", "nio-stored"],
            facts: ["file"],
            because: "for the delegate of one call, Foundation writes each byte of a download twice"
        ),
        Argument(
            "control/cancel-download",
            variants: ["stored", "nio", "nio-stored"],
            facts: ["encoding", "expected", "fields", "mime", "status", "suggested", "url"],
            because: "Foundation sets the response of a download only at its end; here the task has it from the head on"
        ),
        Argument(
            "redirect/no-location",
            variants: ["stored", "nio"],
            facts: ["calls"],
            because: "Foundation does not report a redirect without Location to its delegate; it delivers the response"
        ),
        Argument(
            "redirect/no-location",
            variants: ["nio", "nio-stored"],
            facts: ["bytes"],
            because: "a redirect without Location is an answer with a body (RFC 9110, section 15.4)"
        ),
        Argument(
            "fail/reset*",
            variants: ["nio"],
            facts: ["origin"],
            because: "a safe request whose connection is dropped before a response is sent once more "
                + "(RFC 9110, section 9.2.2)"
        ),
        Argument(
            "redirect/relative",
            variants: ["stored", "nio"],
            facts: ["calls", "url", "origin"],
            because: "Foundation drops the folder when it resolves a Location; RFC 3986, section 5.3, keeps it"
        ),
        Argument(
            "redirect/303/HEAD",
            variants: ["stored", "nio"],
            facts: ["bytes", "encoding", "expected", "fields", "mime", "origin", "suggested"],
            because: "a HEAD stays one after 303 (RFC 9110, section 15.4.4); Foundation sends GET"
        ),
        Argument(
            "redirect/305/GET",
            variants: ["stored", "nio"],
            facts: ["bytes", "encoding", "expected", "fields", "mime", "origin", "status", "suggested", "url"],
            because:
                "305 is deprecated, because a server must not choose a proxy for its clients (RFC 9110, section 15.4.6)"
        ),
        Argument(
            "redirect/306/GET",
            variants: ["stored", "nio"],
            facts: ["bytes", "encoding", "expected", "fields", "mime", "origin", "status", "suggested", "url"],
            because: "306 is reserved and means no redirect (RFC 9110, section 15.4.7)"
        ),
        Argument(
            "body/range",
            variants: ["stored", "nio", "nio-stored"],
            facts: ["origin"],
            because: "a range is asked for without a content coding: a part of coded bytes cannot be decoded"
        ),
        Argument(
            "method/POST-stream/*",
            variants: ["network", "stored"],
            facts: ["origin", "sent"],
            because: "a stream is read before it is sent, so that it can be sent again; so its length is known"
        ),
        Argument(
            "redirect/307/POST",
            variants: ["network", "stored"],
            facts: ["calls", "origin"],
            because: "Foundation drops the body; RFC 9110, section 15.4.8, requires sending it again"
        ),
        Argument(
            "redirect/308/POST",
            variants: ["network", "stored"],
            facts: ["calls", "origin"],
            because: "Foundation drops the body; RFC 9110, section 15.4.9, requires sending it again"
        ),
        Argument(
            "redirect/cross-origin-authorization*",
            variants: ["network", "stored"],
            facts: ["calls", "other"],
            because: "Foundation sends credentials to another origin; Waystation does not (RFC 9110, section 15.4)"
        ),
        Argument(
            "401/basic/post",
            variants: ["network", "stored"],
            facts: ["sent"],
            because: "Foundation adds up both sendings of a body, so the count exceeds the body's length"
        ),
        Argument(
            "401/basic/*",
            variants: ["network", "stored"],
            facts: ["state"],
            because: "the app did not cancel the task: a cancelled challenge ends the load like any other failure"
        ),
        suspended("control/suspend-at-once"),
        suspended("control/suspend-early"),
        suspended("control/suspend-middle"),
        Argument(
            "control/disposition-cancel",
            variants: ["network"],
            facts: ["state", "bytes", "calls", "error"],
            because: "a refused response cancels the task; when Foundation loads it, bytes that it has already queued "
                + "for the delegate still arrive"
        ),
        Argument(
            "control/disposition-cancel",
            variants: ["stored"],
            facts: ["bytes", "calls", "error", "state"],
            because: "Foundation ignores the disposition, against its own documentation"
        ),
    ]

    /// The behaviour of plain URLSession varies from run to run here; `SuspensionTests` pin the behaviour of an
    /// intercepted task.
    private static func suspended(_ scenario: String) -> Argument {
        Argument(
            scenario,
            facts: ["bytes", "calls", "origin", "state"],
            because: "Foundation sometimes loads again when a task is resumed, and then delivers again "
                + "what it had delivered; Waystation continues a suspended load where it stopped"
        )
    }

    /// The arguments for a variant; what holds by Foundation's engine holds by another one too.
    static func all(for variant: Variant) -> [Argument] {
        guard let base = variant.byFoundation else { return all }
        return all + ofEngine
            + all.filter { $0.variants.contains(base.rawValue) }.map {
                Argument($0.scenarios, variants: [variant.rawValue], facts: $0.facts, because: $0.reason)
            }
    }
}
