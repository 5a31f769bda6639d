/// The result of one check of the doctor.
struct Finding: Encodable {
    enum State: String, Encodable {
        /// Nothing is to be done.
        case fine
        /// Foundation does something wrong, and loads through Waystation are not affected.
        case cured
        /// Foundation does something wrong that Waystation cannot correct.
        case notCurable
        /// Something works less well than it could.
        case warning
        /// Something must be done.
        case failed
    }

    let name: String
    let state: State
    let detail: String
    /// Advice to the user; nil if there is nothing to do.
    var advice: String?
    /// The place in the documents that describes the matter.
    var document: String?

    static func fine(_ name: String, _ detail: String) -> Finding {
        Finding(name: name, state: .fine, detail: detail)
    }

    static func warning(_ name: String, _ detail: String, _ advice: String) -> Finding {
        Finding(name: name, state: .warning, detail: detail, advice: advice)
    }

    static func failed(_ name: String, _ detail: String, _ advice: String) -> Finding {
        Finding(name: name, state: .failed, detail: detail, advice: advice)
    }
}
