/// The schemes that need a host and have a default port.
enum KnownScheme: Sendable {
    case http, https, ws, wss, ftp

    init?(_ bytes: some Collection<UInt8>) {
        func spells(_ name: StaticString) -> Bool {
            name.withUTF8Buffer { bytes.elementsEqual($0) }
        }
        switch bytes.count {
        case 5 where spells("https"): self = .https
        case 4 where spells("http"): self = .http
        case 3 where spells("wss"): self = .wss
        case 3 where spells("ftp"): self = .ftp
        case 2 where spells("ws"): self = .ws
        default: return nil
        }
    }

    var defaultPort: Int {
        switch self {
        case .http, .ws: 80
        case .https, .wss: 443
        case .ftp: 21
        }
    }
}
