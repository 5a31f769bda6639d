import Foundation
import WaystationStorage

/// An invalidation that reaches all machines.
enum SharedScope: Hashable, Sendable {
    case all
    case url(String)
    case prefix(String)
    case host(String)

    /// The responses of a machine's own store to remove, in all partitions.
    var local: ResponseScope {
        switch self {
        case .all: .all
        case .url(let url): .url(url)
        case .prefix(let prefix): .prefix(prefix)
        case .host(let host): .host(host)
        }
    }

    var encoded: Data {
        let (kind, text): (UInt8, String) =
            switch self {
            case .all: (0, "")
            case .url(let url): (1, url)
            case .prefix(let prefix): (2, prefix)
            case .host(let host): (3, host)
            }
        return Data([kind]) + Data(text.utf8)
    }

    /// - Returns: nil when the bytes are not those of a scope.
    init?(encoded: Data) {
        let text = String(decoding: encoded.dropFirst(), as: UTF8.self)
        switch encoded.first {
        case 0: self = .all
        case 1: self = .url(text)
        case 2: self = .prefix(text)
        case 3: self = .host(text)
        default: return nil
        }
    }
}
