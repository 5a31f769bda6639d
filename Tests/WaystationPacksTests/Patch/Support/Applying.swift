import Foundation
import WaystationStorage

@testable import WaystationPacks

/// The new bytes, from old bytes and a patch in memory.
func applied(
    _ patch: Data,
    to old: Data,
    limits: PatchLimits = PatchLimits(),
    expecting expectation: BSDiffPatch.Expectation = .init()
) throws -> Data {
    var new = Data()
    try BSDiffPatch(DataSource(patch), limits: limits)
        .apply(to: DataSource(old), expecting: expectation) { new.append(contentsOf: $0) }
    return new
}

/// A patch from bytes in memory.
func patch(from old: Data, to new: Data) throws -> Data {
    try BSDiffPatch.create(from: DataSource(old), to: DataSource(new))
}
