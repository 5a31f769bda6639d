import Foundation
import HTTPTypes
import Testing

@testable import WaystationHTTP

@Suite struct DownloadResponseTests {
    private static let strong = Validators([.eTag: "\"1\""])

    private func response(
        _ status: Int,
        _ fields: HTTPFields,
        offset: Int = 0,
        total: Int? = 100,
        expected: Int? = nil
    ) -> DownloadResponse {
        DownloadResponse(
            status: status,
            fields: fields,
            offset: offset,
            total: offset > 0 ? total : nil,
            validators: offset > 0 ? Self.strong : nil,
            expected: expected
        )
    }

    @Test("200 starts a file, whatever was there before")
    func whole() {
        let fields: HTTPFields = [.contentLength: "100", .eTag: "\"1\""]
        #expect(response(200, fields) == .begin(total: 100, Self.strong))
        #expect(response(200, fields, offset: 40) == .begin(total: 100, Self.strong))
        #expect(response(200, [:]) == .begin(total: nil, Validators([:])))
        #expect(response(200, [.contentLength: "-5"]) == .begin(total: nil, Validators([:])))
    }

    @Test("A length other than the offer's fails before a byte is read")
    func wrongSize() {
        #expect(
            response(200, [.contentLength: "101"], expected: 100)
                == .fail(.wrongSize(announced: 101, expected: 100))
        )
        #expect(
            response(200, [.contentLength: "99"], expected: 100) == .fail(.wrongSize(announced: 99, expected: 100))
        )
    }

    @Test("A response with a content coding states neither the file's length nor a validator for its parts")
    func coded() {
        let fields: HTTPFields = [.contentLength: "50", .contentEncoding: "gzip", .eTag: "\"1\""]
        #expect(response(200, fields, expected: 100) == .begin(total: 100, Validators([:])))
        #expect(response(200, fields) == .begin(total: nil, Validators([:])))
        let part: HTTPFields = [.contentRange: "bytes 40-99/100", .contentEncoding: "gzip"]
        #expect(response(206, part, offset: 40) == .startAgain)
    }

    @Test("206 continues only from the requested byte of the same file")
    func part() {
        #expect(response(206, [.contentRange: "bytes 40-99/100"], offset: 40) == .resume(total: 100))
        #expect(response(206, [.contentRange: "bytes 40-99/*"], offset: 40) == .resume(total: 100))
        #expect(response(206, [.contentRange: "bytes 40-99/100"], offset: 40, total: nil) == .resume(total: 100))
        #expect(response(206, [.contentRange: "bytes 40-59/*"], offset: 40, total: nil) == .resume(total: nil))
        #expect(response(206, [.contentRange: "bytes 41-99/100"], offset: 40) == .startAgain)
        #expect(response(206, [.contentRange: "bytes 0-99/100"], offset: 40) == .startAgain)
        #expect(response(206, [.contentRange: "bytes 40-100/101"], offset: 40) == .startAgain)
        #expect(response(206, [:], offset: 40) == .startAgain)
        #expect(response(206, [.contentRange: "nonsense"], offset: 40) == .startAgain)
        let other: HTTPFields = [.contentRange: "bytes 40-99/100", .eTag: "\"2\""]
        #expect(response(206, other, offset: 40) == .startAgain)
    }

    @Test("206 in response to a request without a range is refused")
    func unasked() {
        #expect(response(206, [.contentRange: "bytes 0-99/100"]) == .fail(.unasked))
    }

    @Test("416 means that the file is complete if it ends at our offset, and another file otherwise")
    func unsatisfied() {
        #expect(response(416, [.contentRange: "bytes */100"], offset: 100, total: nil) == .complete)
        #expect(response(416, [.contentRange: "bytes */90"], offset: 100) == .startAgain)
        #expect(response(416, [:], offset: 100) == .startAgain)
        #expect(response(416, [.contentRange: "bytes */100"], offset: 100, expected: 120) == .startAgain)
        #expect(response(416, [:]) == .fail(.status))
    }

    @Test("Any other status fails the download", arguments: [201, 204, 301, 304, 401, 404, 429, 500, 503])
    func status(status: Int) {
        #expect(response(status, [:], offset: 40) == .fail(.status))
    }
}
