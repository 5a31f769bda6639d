public import ArgumentParser
import Foundation
public import WaystationPacks

extension ModuleID: ExpressibleByArgument {}
extension PackVersion: ExpressibleByArgument {}
extension TrustedKey: ExpressibleByArgument {}
extension PatchOffer.Kind: ExpressibleByArgument {}

extension NetworkCondition: ExpressibleByArgument {
    /// Accepts any name; the release directory decides which names may be published.
    public init?(argument: String) { self.init(argument) }
}

extension URL {
    /// The file or folder for an argument, with symbolic links resolved.
    init(argument: String) { self = URL(filePath: argument).resolvingSymlinksInPath() }
}

/// An http or https URL.
struct WebAddress: ExpressibleByArgument {
    let url: URL

    init?(argument: String) {
        guard let url = URL(string: argument), ["http", "https"].contains(url.scheme?.lowercased()), url.host != nil
        else { return nil }
        self.url = url
    }
}

/// A point in time in the form of RFC 3339.
struct Moment: ExpressibleByArgument {
    let date: Date

    init?(argument: String) {
        guard let date = try? Date(argument, strategy: .iso8601) else { return nil }
        self.date = date
    }
}

/// A media type for a path, `path=type`.
struct MediaTypeOverride: ExpressibleByArgument {
    let path: String
    let type: String

    init?(argument: String) {
        guard let equals = argument.lastIndex(of: "="), equals != argument.startIndex else { return nil }
        path = String(argument[..<equals])
        type = String(argument[argument.index(after: equals)...])
    }
}

extension ModuleID {
    /// The help of an option with the module of a pack; errors show it.
    static var help: String {
        "The module that the pack belongs to: 1 to 64 letters, digits, '.', '_' and '-', not beginning with a dot."
    }
}
