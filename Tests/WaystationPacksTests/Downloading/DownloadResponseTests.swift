import Foundation
import HTTPTypes
import Testing

@testable import WaystationPacks

@Suite struct DownloadResponseTests {
    private static let strong = Validators([.eTag: "\"1\""])

    private func response(
        _ status: Int,
        _ fields: HTTPFields,
        offset: Int = 0,
        total: Int? = 100,
        expected: Int? = nil
    ) throws -> DownloadResponse {
        let record = DownloadRecord(url: try Sample.url("http://a.example/f"), total: total, validators: Self.strong)
        return DownloadResponse(
            status: status,
            fields: fields,
            offset: offset,
            record: offset > 0 ? record : nil,
            expected: expected
        )
    }

    @Test("200 starts a file, whatever was there before")
    func whole() throws {
        let fields: HTTPFields = [.contentLength: "100", .eTag: "\"1\""]
        #expect(try response(200, fields) == .begin(total: 100, Self.strong))
        #expect(try response(200, fields, offset: 40) == .begin(total: 100, Self.strong))
        #expect(try response(200, [:]) == .begin(total: nil, Validators([:])))
        #expect(try response(200, [.contentLength: "-5"]) == .begin(total: nil, Validators([:])))
    }

    @Test("A length other than the offer's fails before a byte is read")
    func wrongSize() throws {
        #expect(
            try response(200, [.contentLength: "101"], expected: 100)
                == .fail(.wrongSize(announced: 101, expected: 100))
        )
        #expect(
            try response(200, [.contentLength: "99"], expected: 100) == .fail(.wrongSize(announced: 99, expected: 100))
        )
    }

    @Test("A response with a content coding states neither the file's length nor a validator for its parts")
    func coded() throws {
        let fields: HTTPFields = [.contentLength: "50", .contentEncoding: "gzip", .eTag: "\"1\""]
        #expect(try response(200, fields, expected: 100) == .begin(total: 100, Validators([:])))
        #expect(try response(200, fields) == .begin(total: nil, Validators([:])))
        let part: HTTPFields = [.contentRange: "bytes 40-99/100", .contentEncoding: "gzip"]
        #expect(try response(206, part, offset: 40) == .startAgain)
    }

    @Test("206 continues only from the requested byte of the same file")
    func part() throws {
        #expect(try response(206, [.contentRange: "bytes 40-99/100"], offset: 40) == .resume(total: 100))
        #expect(try response(206, [.contentRange: "bytes 40-99/*"], offset: 40) == .resume(total: 100))
        #expect(try response(206, [.contentRange: "bytes 40-99/100"], offset: 40, total: nil) == .resume(total: 100))
        #expect(try response(206, [.contentRange: "bytes 40-59/*"], offset: 40, total: nil) == .resume(total: nil))
        #expect(try response(206, [.contentRange: "bytes 41-99/100"], offset: 40) == .startAgain)
        #expect(try response(206, [.contentRange: "bytes 0-99/100"], offset: 40) == .startAgain)
        #expect(try response(206, [.contentRange: "bytes 40-100/101"], offset: 40) == .startAgain)
        #expect(try response(206, [:], offset: 40) == .startAgain)
        #expect(try response(206, [.contentRange: "nonsense"], offset: 40) == .startAgain)
        let other: HTTPFields = [.contentRange: "bytes 40-99/100", .eTag: "\"2\""]
        #expect(try response(206, other, offset: 40) == .startAgain)
    }

    @Test("206 in response to a request without a range is refused")
    func unasked() throws {
        #expect(try response(206, [.contentRange: "bytes 0-99/100"]) == .fail(.unasked))
    }

    @Test("416 means that the file is complete if it ends at our offset, and another file otherwise")
    func unsatisfied() throws {
        #expect(try response(416, [.contentRange: "bytes */100"], offset: 100, total: nil) == .complete)
        #expect(try response(416, [.contentRange: "bytes */90"], offset: 100) == .startAgain)
        #expect(try response(416, [:], offset: 100) == .startAgain)
        #expect(try response(416, [.contentRange: "bytes */100"], offset: 100, expected: 120) == .startAgain)
        #expect(try response(416, [:]) == .fail(.status))
    }

    @Test("Any other status fails the download", arguments: [201, 204, 301, 304, 401, 404, 429, 500, 503])
    func status(status: Int) throws {
        #expect(try response(status, [:], offset: 40) == .fail(.status))
    }

    @Test("Without a digest a part is continued only with a validator, and if all of it was synchronized")
    func resuming() throws {
        let url = try Sample.url("http://a.example/f")
        let digest = PackDigest(of: Data())
        func record(_ validators: Validators, _ synchronized: Int?, _ digest: PackDigest? = nil) -> DownloadRecord {
            DownloadRecord(url: url, digest: digest, total: 100, synchronized: synchronized, validators: validators)
        }
        let bare = Artifact(url: url)
        #expect(record(Self.strong, 40).allowsResuming(bare, from: 40))
        #expect(!record(Self.strong, nil).allowsResuming(bare, from: 40))
        #expect(!record(Self.strong, 30).allowsResuming(bare, from: 40))
        #expect(!record(Validators([:]), 40).allowsResuming(bare, from: 40))
        let checked = Artifact(url: url, digest: digest)
        #expect(record(Validators([:]), nil, digest).allowsResuming(checked, from: 40))
        #expect(!record(Validators([:]), nil, digest).allowsResuming(checked, from: 101))
        #expect(!record(Validators([:]), nil, digest).allowsResuming(checked, from: 0))
        #expect(!record(Self.strong, 40).allowsResuming(checked, from: 40))
        var newer = record(Self.strong, 40)
        newer.version = 2
        #expect(!newer.allowsResuming(bare, from: 40))
    }
}
