import Measuring

/// A kind of load.
///
/// Its URLs have the form `…/KIND/NUMBER`, and the number determines the body.
enum Kind: String, CaseIterable, Sendable {
    /// Answered from a directory and from an installed pack; these loads never fail.
    case file, pack
    /// Answered by the cache with one of its strategies.
    case archive, standard, stale, first
    /// Matched by the archive's rule, each URL only once: the response is stored, and evicted later.
    case miss
    /// Forwarded to Foundation's own loader.
    case network
    /// Redirected to `standard`.
    case redirect
    /// A URL that no rule matches.
    case plain

    /// The count of numbers of each kind except `miss`.
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
