import Foundation
import Testing

@testable import WaystationArchive

/// An archive with one defect, and the error code that must be reported for it.
struct Refusal: Sendable, CustomTestStringConvertible {
    let what: String
    let code: ZipError.Code
    let data: Data
    let limits: ZipLimits

    init(
        _ what: String,
        _ code: ZipError.Code,
        _ zip: RawZip,
        limits change: (inout ZipLimits) -> Void = { _ in }
    ) {
        var limits = ZipLimits()
        change(&limits)
        self.what = what
        self.code = code
        self.data = zip.data
        self.limits = limits
    }

    /// An archive of one entry next to a sound one.
    init(
        _ what: String,
        _ code: ZipError.Code,
        _ entry: RawEntry,
        limits change: (inout ZipLimits) -> Void = { _ in }
    ) {
        self.init(what, code, RawZip([RawEntry("sound.txt"), entry]), limits: change)
    }

    /// An archive of entries with these names.
    init(_ what: String, _ code: ZipError.Code, names: String...) {
        self.init(what, code, RawZip(names.map { RawEntry($0) }))
    }

    var testDescription: String { what }
}
