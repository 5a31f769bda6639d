import Foundation
import HTTPTypes
import Testing
import WaystationHTTP

@testable import Waystation

@Suite("The record of a partial file")
struct DownloadRecordTests {
    private static let strong = Validators([.eTag: "\"1\""])

    @Test("allows resuming without a digest only with a validator, and if all of the part was synchronized")
    func resuming() throws {
        let url = try #require(URL(string: "http://a.example/f"))
        func record(_ validators: Validators, _ synchronized: Int?, _ digest: String? = nil) -> DownloadRecord {
            DownloadRecord(url: url, digest: digest, total: 100, synchronized: synchronized, validators: validators)
        }
        let bare = DownloadRecord(url: url)
        #expect(record(Self.strong, 40).allowsResuming(bare, from: 40))
        #expect(!record(Self.strong, nil).allowsResuming(bare, from: 40))
        #expect(!record(Self.strong, 30).allowsResuming(bare, from: 40))
        #expect(!record(Validators([:]), 40).allowsResuming(bare, from: 40))
        let checked = DownloadRecord(url: url, digest: "sha256-a")
        #expect(record(Validators([:]), nil, "sha256-a").allowsResuming(checked, from: 40))
        #expect(!record(Validators([:]), nil, "sha256-a").allowsResuming(checked, from: 101))
        #expect(!record(Validators([:]), nil, "sha256-a").allowsResuming(checked, size: 30, from: 40))
        #expect(!record(Validators([:]), nil, "sha256-a").allowsResuming(checked, from: 0))
        #expect(!record(Self.strong, 40).allowsResuming(checked, from: 40))
        var newer = record(Self.strong, 40)
        newer.version = 2
        #expect(!newer.allowsResuming(bare, from: 40))
    }
}
