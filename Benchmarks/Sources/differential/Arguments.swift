import Measuring

extension Argument {
    /// Every difference from plain URLSession that is right, and why.
    ///
    /// An argument names the facts that may differ, so that anything else that differs in the same scenario still
    /// fails.
    static let all: [Argument] = [
        Argument(
            "*",
            variants: ["network", "stored", "hit"],
            facts: ["cache-status"],
            because: "an answer that Waystation gave says where it came from (RFC 9211)"
        ),
        Argument(
            "*",
            variants: ["hit"],
            facts: ["age"],
            because: "an answer from the cache tells its age (RFC 9111, section 5.1)"
        ),
        Argument(
            "*",
            variants: ["hit"],
            facts: ["date"],
            because: "what is stored without a Date gets the time of its arrival (RFC 9110, section 6.6.1)"
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
            "*",
            variants: ["hit"],
            facts: ["origin"],
            because: "the cache answers, so the origin is not asked"
        ),
        Argument(
            "*",
            variants: ["network", "stored", "hit"],
            facts: ["received", "current"],
            because: "only Foundation's own loader can set these counts and the current request of a task"
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
            because: "an answer sets its cookies when it arrives, and not again from the cache"
        ),
        Argument(
            "fields/cookies-come-back",
            variants: ["hit"],
            facts: ["fields"],
            because: "an answer sets its cookies when it arrives, and not again from the cache"
        ),
        Argument(
            "data/task-delegate",
            variants: ["hit"],
            facts: ["calls"],
            because: "the bytes of a hit go to the caller in one piece; the delegate of the call hears of its response"
        ),
        Argument(
            "redirect/no-location",
            variants: ["stored"],
            facts: ["calls"],
            because: "Foundation does not tell its delegate of a redirect that leads nowhere; it is the response"
        ),
        Argument(
            "redirect/relative",
            variants: ["stored"],
            facts: ["calls", "url", "origin"],
            because: "Foundation forgets the folder when it resolves a Location; RFC 3986, section 5.3, keeps it"
        ),
        Argument(
            "method/POST-stream/*",
            variants: ["network", "stored"],
            facts: ["origin", "sent"],
            because: "a stream is read before it is sent, so that it can be sent again; then its length is known"
        ),
        Argument(
            "redirect/307/POST",
            variants: ["network", "stored"],
            facts: ["calls", "origin"],
            because: "Foundation loses the body; RFC 9110, section 15.4.8, wants it sent again"
        ),
        Argument(
            "redirect/308/POST",
            variants: ["network", "stored"],
            facts: ["calls", "origin"],
            because: "Foundation loses the body; RFC 9110, section 15.4.9, wants it sent again"
        ),
        Argument(
            "redirect/cross-origin-authorization*",
            variants: ["network", "stored"],
            facts: ["calls", "other"],
            because: "Foundation takes credentials to another origin; they stay with their own (RFC 9110, section 15.4)"
        ),
        Argument(
            "401/basic/post",
            variants: ["network", "stored"],
            facts: ["sent"],
            because: "Foundation counts a body that is sent twice as one that is longer than announced"
        ),
        Argument(
            "401/basic/*",
            variants: ["network", "stored"],
            facts: ["state"],
            because: "nobody cancelled the task: a cancelled challenge ends the load, as any other failure does"
        ),
        suspended("control/suspend-at-once"),
        suspended("control/suspend-early"),
        suspended("control/suspend-middle"),
        Argument(
            "control/disposition-cancel",
            variants: ["network"],
            facts: ["state", "bytes", "calls", "error"],
            because: "a refused response cancels the task; of one that was handed back, what Foundation has queued "
                + "for the delegate by then still arrives"
        ),
        Argument(
            "control/disposition-cancel",
            variants: ["stored"],
            facts: ["bytes", "calls", "error", "state"],
            because: "Foundation ignores the disposition that its own documentation promises to obey"
        ),
    ]

    /// Plain URLSession behaves differently from run to run here; `SuspensionTests` pin the behaviour of an intercepted task.
    private static func suspended(_ scenario: String) -> Argument {
        Argument(
            scenario,
            facts: ["bytes", "calls", "origin", "state"],
            because: "Foundation may load again when a task is resumed, does not do so every time, and then delivers "
                + "what it had delivered; a suspended load goes on where it was"
        )
    }
}
