import Measuring

/// A kind of load; its URLs are `…/KIND/NUMBER`, and the body follows from the number.
enum Kind: String, CaseIterable, Sendable {
    /// Answered from a directory and from an installed pack: these never fail.
    case file, pack
    /// Answered by the strategies of the cache.
    case archive, standard, stale, first
    /// Below the archive's rule, and each URL only once: stored, and then evicted in time.
    case miss
    /// Handed to Foundation's own loader.
    case network
    /// Redirected to `standard`.
    case redirect
    /// A URL that no rule takes.
    case plain

    /// How many numbers each kind but `miss` has.
    static let population = 300

    var isLocal: Bool { self == .file || self == .pack }

    func url(_ number: Int, origin: String) -> String {
        switch self {
        case .file: "http://files.test/\(number).bin"
        case .pack: "http://packs.test/\(number).bin"
        case .miss: "\(origin)/archive/\(number)"
        default: "\(origin)/\(rawValue)/\(number)"
        }
    }
}
