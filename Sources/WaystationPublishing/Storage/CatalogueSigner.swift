import Foundation
import WaystationFields
import WaystationPacks

/// Signs the catalogue of a changed index.
struct CatalogueSigner: Sendable {
    let keys: [SigningKey]
    let validity: Duration
    let now: @Sendable () -> Date

    /// Gives the index the next serial number, and signs its catalogue.
    ///
    /// - Parameters:
    ///   - index: The index, which gets the catalogue's times and its digest.
    ///   - place: The place of the index, for messages.
    /// - Returns: The signed catalogue.
    /// - Throws: ``PackError`` when no serial number is left, or when clients would refuse the catalogue for its size.
    func sign(_ index: inout ReleaseIndex, at place: String) throws -> Data {
        let (serial, overflow) = index.serial.addingReportingOverflow(1)
        guard !overflow else { throw PackError(.damaged, "the serial number in \(place) cannot grow any more") }
        // The dates are rounded to whole seconds, as they are written.
        let issued = Date(timeIntervalSince1970: now().timeIntervalSince1970.rounded(.down))
        let expires = issued.addingTimeInterval(validity.inSeconds)
        index.serial = serial
        index.issued = issued
        index.expires = expires
        index.keys = keys.map(\.trusted.id)
        let catalogue = try index.catalogue(issued: issued, expires: expires).signed(by: keys)
        guard catalogue.count <= CatalogueSource.standardMaximumSize else {
            throw PackError(
                .tooLarge,
                "the catalogue would have \(catalogue.count) bytes for \(index.releaseCount) releases, but clients read at "
                    + "most \(CatalogueSource.standardMaximumSize): remove old releases with `waystation prune`"
            )
        }
        index.catalogue = PackDigest(of: catalogue)
        return catalogue
    }
}
