import Foundation
import WaystationPacks

/// The publisher's side of the examples, which an app that imports `Waystation` alone does not have.
enum PublishedPack {
    /// The public key of a publisher.
    static var key: TrustedKey { get throws { try SigningKey.generate().trusted } }

    static func build(_ folder: URL, _ description: PackDescription, to zip: URL) throws {
        try PackBuilder.build(folder: folder, as: description, to: zip)
    }
}
