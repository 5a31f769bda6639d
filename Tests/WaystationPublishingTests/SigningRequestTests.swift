import Foundation
import Testing

@testable import WaystationPublishing

/// The examples of "Signature Calculations for the Authorization Header" in the documentation of Amazon S3, and requests
/// of the test suite of Signature Version 4.
@Suite("Signature Version 4")
struct SigningRequestTests {
    private static let empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    private static let welcome = "44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072"

    struct Example: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let request: SigningRequest
        let digest: String
        let signature: String
    }

    private static func request(
        _ method: String,
        _ path: String,
        _ query: [(String, String)] = [],
        _ fields: [(String, String)] = [],
        payload: String = empty
    ) -> SigningRequest {
        let common = [
            ("Host", "examplebucket.s3.amazonaws.com"), ("x-amz-content-sha256", payload),
            ("x-amz-date", "20130524T000000Z"),
        ]
        return SigningRequest(method: method, path: path, query: query, fields: fields + common, payload: payload)
    }

    private static let examples = [
        Example(
            testDescription: "GET Object",
            request: request("GET", "/test.txt", [], [("Range", "bytes=0-9")]),
            digest: "7344ae5b7ee6c3e7e6b0fe0640412a37625d1fbfff95c48bbb2dc43964946972",
            signature: "f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41"
        ),
        Example(
            testDescription: "PUT Object",
            request: request(
                "PUT",
                "/test%24file.text",
                [],
                [("Date", "Fri, 24 May 2013 00:00:00 GMT"), ("x-amz-storage-class", "REDUCED_REDUNDANCY")],
                payload: welcome
            ),
            digest: "9e0e90d9c76de8fa5b200d8c849cd5b8dc7a3be3951ddb7f6a76b4158342019d",
            signature: "98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd"
        ),
        Example(
            testDescription: "GET Bucket Lifecycle",
            request: request("GET", "/", [("lifecycle", "")]),
            digest: "9766c798316ff2757b517bc739a67f6213b4ab36dd5da2f94eaebf79c77395ca",
            signature: "fea454ca298b7da1c68078a5d1bdbfbbe0d65c699e0f91ac7a200a0136783543"
        ),
        Example(
            testDescription: "List Objects, with the items in another order",
            request: request("GET", "/", [("prefix", "J"), ("max-keys", "2")]),
            digest: "df57d21db20da04d7fa30298dd4488ba3a2b47ca3a489c74750e0f1e7df1b9b7",
            signature: "34b48302e7b5fa45bde8084f4b7868a86f0a534bc59db6670ed5711ef69dc6f7"
        ),
    ]

    @Test("the published examples of S3 have the published signatures", arguments: examples)
    func published(_ example: Example) {
        let scope = SigningScope(
            credentials: S3Credentials(
                accessKey: "AKIAIOSFODNN7EXAMPLE",
                secretKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
            ),
            region: "us-east-1"
        )
        // 2013-05-24T00:00:00Z
        let now = Date(timeIntervalSince1970: 1_369_353_600)
        #expect(example.request.text(scope, now: now).hasSuffix("\n" + example.digest))
        let names = example.request.fields.map { $0.name.lowercased() }.sorted().joined(separator: ";")
        #expect(
            example.request.authorization(scope, now: now)
                == "AWS4-HMAC-SHA256 Credential=AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request, "
                + "SignedHeaders=\(names), Signature=\(example.signature)"
        )
    }

    @Test(
        "requests of the test suite have its signatures",
        arguments: [
            ([], "5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31"),
            (
                [("Param2", "value2"), ("Param1", "value1")],
                "b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500"
            ),
        ]
    )
    func suite(_ query: [(String, String)], _ signature: String) {
        let scope = SigningScope(
            credentials: S3Credentials(
                accessKey: "AKIDEXAMPLE",
                secretKey: "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
            ),
            region: "us-east-1",
            service: "service"
        )
        let request = SigningRequest(
            method: "GET",
            path: "/",
            query: query.map { ($0.0, $0.1) },
            fields: [("Host", "example.amazonaws.com"), ("X-Amz-Date", "20150830T123600Z")],
            payload: Self.empty
        )
        // 2015-08-30T12:36:00Z
        let authorization = request.authorization(scope, now: Date(timeIntervalSince1970: 1_440_938_160))
        #expect(authorization.hasSuffix("Signature=\(signature)"))
    }

    @Test("credentials show no secret")
    func secrets() {
        let credentials = S3Credentials(accessKey: "key", secretKey: "hidden", sessionToken: "hidden")
        var dumped = ""
        dump(credentials, to: &dumped)
        #expect(!"\(credentials) \(String(reflecting: credentials)) \(dumped)".contains("hidden"))
    }
}
