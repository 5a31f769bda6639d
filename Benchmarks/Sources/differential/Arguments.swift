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
            because: "an answer from the archive tells its age (RFC 9111, section 5.1)"
        ),
        Argument(
            "*",
            variants: ["hit"],
            facts: ["origin"],
            because: "the archive answers, so the origin is not asked"
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
            because: "an answer sets its cookies when it arrives, and not again from the archive"
        ),
        Argument(
            "fields/cookies-come-back",
            variants: ["hit"],
            facts: ["fields"],
            because: "an answer sets its cookies when it arrives, and not again from the archive"
        ),
        Argument(
            "redirect/relative",
            variants: ["stored"],
            facts: ["calls", "url", "origin"],
            because: "Foundation forgets the folder when it resolves a Location; RFC 3986, section 5.3, keeps it"
        ),
    ]
}
