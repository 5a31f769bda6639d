import Foundation
import HTTPTypes
import Synchronization
import Testing
import WaystationHTTP
import WaystationPacks
import WaystationStorage
import WaystationTestSupport

@testable import WaystationPublishing

@Suite("Buckets of an S3-compatible store")
struct S3BucketTests {
    private let publisher: Publisher
    private let store: ObjectStore

    init() throws {
        publisher = try Publisher()
        store = try ObjectStore.shared
    }

    private func bucket(
        _ address: String? = nil,
        _ change: (inout S3Bucket.Configuration) -> Void = { _ in }
    ) throws -> S3Bucket {
        var configuration = try S3Bucket.Configuration(environment: store.environment)
        configuration.fetcher = URLSessionFetcher(configuration: .patient)
        change(&configuration)
        return try S3Bucket(address ?? store.address(), configuration)
    }

    @Test("an object is stored under its condition, read, listed and removed")
    func objects() async throws {
        let bucket = try bucket()
        #expect(try await bucket.read("a.json", limit: 100) == nil)
        #expect(try await bucket.write(Data("1".utf8), to: "a.json", as: .changing, if: .absent) == .stored)
        #expect(try await bucket.write(Data("2".utf8), to: "a.json", as: .changing, if: .absent) == .lost)
        let first = try #require(try await bucket.read("a.json", limit: 100))
        #expect(first.data == Data("1".utf8))
        let matches = WriteCondition.matches(version: first.version)
        #expect(try await bucket.write(Data("3".utf8), to: "a.json", as: .changing, if: matches) == .stored)
        #expect(try await bucket.write(Data("4".utf8), to: "a.json", as: .changing, if: matches) == .lost)
        #expect(try await bucket.write(Data("5".utf8), to: "b.json", as: .changing, if: matches) == .lost)
        #expect(try await bucket.list("").objects.map(\.key) == ["a.json"])
        #expect(try await bucket.list("b").objects.isEmpty)
        try await bucket.remove("a.json")
        try await bucket.remove("a.json")
        #expect(try await bucket.list("").objects.isEmpty)
    }

    @Test("an answer is read from any position, with any number of bytes")
    func reading() async throws {
        let bucket = try bucket()
        _ = try await bucket.write(Data("0123456789".utf8), to: "packs/digits", as: .zip, if: nil)
        let request = FileRequest(path: "packs/digits", headerFields: [.range: "bytes=2-8"])
        let answer = try #require(try await bucket.answer(request))
        #expect(answer.length == 7)
        #expect(try await answer.read(at: 1, count: 3) == Data("345".utf8))
        #expect(try await answer.read(at: 1, count: .max) == Data("345678".utf8))
        #expect(try await answer.read(at: .max, count: 1).isEmpty)
        #expect(try await answer.read(at: .min, count: 1) == Data("2".utf8))
    }

    @Test("a listing of more than one page is complete")
    func pages() async throws {
        let bucket = try bucket("s3://releases/shop") { $0.fetcher = PagedStore() }
        let listing = try await bucket.list("packs/")
        let found = listing.objects
        // The time of the first page: an object that is stored later is not in it.
        #expect(listing.began == Date(timeIntervalSince1970: 1_790_000_100))
        #expect(found.map(\.key) == ["packs/1.zip", "packs/2.zip"])
        #expect(found.map(\.modified.timeIntervalSince1970) == [1_790_000_000, 1_790_000_001.5])
    }

    @Test("a request that the store could not answer is sent again, at most three times", arguments: [3, 4])
    func repeated(failures: Int) async throws {
        let store = FailingStore(failures: failures)
        let bucket = try bucket("s3://releases/shop") { $0.fetcher = store }
        if failures == 3 {
            #expect(try await bucket.read("a", limit: 100) == StoredObject(data: Data("a".utf8), version: "\"1\""))
        } else {
            let error = await #expect(throws: PackError.self) { try await bucket.read("a", limit: 100) }
            #expect(error?.message.contains("503 SlowDown; the store is busy: try again later") == true)
        }
        #expect(store.requests == 4)
    }

    @Test("a write that meets another one of the same object is sent again, until its result is known")
    func conflict() async throws {
        let conflict = "<Error><Code>ConditionalRequestConflict</Code></Error>"
        let store = FailingStore(failures: 1, 409, conflict)
        let bucket = try bucket("s3://releases/shop") { $0.fetcher = store }
        #expect(try await bucket.write(Data(), to: "a", as: .zip, if: .absent) == .stored)
        #expect(store.requests == 2)
        let busy = try self.bucket("s3://releases/shop") { $0.fetcher = FailingStore(failures: .max, 409, conflict) }
        let error = await #expect(throws: PackError.self) {
            try await busy.write(Data(), to: "a", as: .zip, if: .absent)
        }
        #expect(error?.message.contains("another write of this object is under way: try again later") == true)
    }

    @Test("a 404 in reply to the write of a new object is an error, not an object that exists already")
    func absent() async throws {
        let bucket = try bucket("s3://releases/shop") { $0.fetcher = FailingStore(failures: .max, 404, "") }
        #expect(try await bucket.write(Data(), to: "a", as: .changing, if: .matches(version: "\"1\"")) == .lost)
        let error = await #expect(throws: PackError.self) {
            try await bucket.write(Data(), to: "a", as: .changing, if: .absent)
        }
        #expect(error?.code == .refused)
        #expect(error?.message.contains("check the name of the bucket, and the endpoint") == true)
    }

    @Test("what one machine publishes, another one reads, rolls back and prunes")
    func releases() async throws {
        let bucket = try bucket()
        let (one, other) = (ReleaseDirectory(in: bucket), ReleaseDirectory(in: bucket))
        let key = publisher.key
        try await one.publish(zip: publisher.pack("1.0"), signedBy: [key])
        try await other.publish(zip: publisher.pack("1.1"), signedBy: [key])
        #expect(try await one.index()[module()]?.live == version("1.1"))
        try await one.rollBack(module(), signedBy: [key])
        #expect(try await other.index()[module()]?.live == version("1.0"))
        let object = try #require(try await bucket.read("catalogue.json", limit: 1 << 20))
        let catalogue = try Catalogue.opening(object.data, signedBy: [key.trusted], after: nil, now: Date()).catalogue
        #expect(catalogue.serial == 3)
    }

    @Test(
        "a refusal says what was wrong, and what to do",
        arguments: [
            ("region", "the bucket is in the region us-east-1, not in eu-west-1: set AWS_REGION=us-east-1"),
            ("key", "the store does not know the access key unknown: check AWS_ACCESS_KEY_ID"),
            ("secret", "the secret key does not belong to the access key test-key: check AWS_SECRET_ACCESS_KEY"),
            ("bucket", "there is no bucket other at http://127.0.0.1:"),
        ]
    )
    func refusals(mistake: String, advice: String) async throws {
        let bucket = try bucket(mistake == "bucket" ? "s3://other/x" : nil) { configuration in
            switch mistake {
            case "region": configuration.region = "eu-west-1"
            case "key": configuration.credentials.accessKey = "unknown"
            case "secret": configuration.credentials.secretKey = "wrong"
            default: break
            }
        }
        let error = await #expect(throws: PackError.self) { try await ReleaseDirectory(in: bucket).index() }
        #expect(error?.code == .refused)
        #expect(error?.message.contains(advice) == true, "\(error?.message ?? "")")
    }

    @Test("a store that ignores conditions is noticed before anything is changed")
    func unconditional() async throws {
        let bucket = try bucket(store.address(below: "unconditional"))
        let pack = try publisher.pack("1.0")
        let error = await #expect(throws: PackError.self) {
            try await ReleaseDirectory(in: bucket).publish(zip: pack, signedBy: [publisher.key])
        }
        #expect(error?.code == .refused)
        #expect(error?.message.contains("ignores the condition of a write") == true)
        #expect(try await bucket.read("releases.json", limit: 1 << 20) == nil)
        #expect(try await bucket.read("catalogue.json", limit: 1 << 20) == nil)
        #expect(try await bucket.list("").objects.isEmpty)
    }

    @Test("a store that cannot be reached is an error of the network")
    func unreachable() async throws {
        let bucket = try bucket { $0.endpoint = URL(string: "http://127.0.0.1:1") }
        #expect(await errorCode { try await ReleaseDirectory(in: bucket).index() } == .network)
    }

    @Test("addresses name the bucket in the host or the path")
    func addressing() throws {
        func url(_ address: String, _ endpoint: String?, _ style: S3Bucket.AddressingStyle? = nil) throws -> String {
            var configuration = S3Bucket.Configuration(
                credentials: S3Credentials(accessKey: "k", secretKey: "s", sessionToken: "t"),
                region: "eu-central-1"
            )
            configuration.endpoint = endpoint.flatMap { URL(string: $0) }
            configuration.addressing = style
            let bucket = try S3Bucket(address, configuration)
            let request = S3Request(.get, bucket.location.key("releases.json"), limit: 1)
            let signed = try bucket.signed(request, payload: "", now: Publisher.start)
            #expect(signed.fields[try #require(HTTPField.Name("x-amz-security-token"))] == "t")
            return signed.url.absoluteString
        }
        #expect(try url("s3://abc/p/q", nil) == "https://abc.s3.eu-central-1.amazonaws.com/p/q/releases.json")
        #expect(try url("s3://abc", nil, .path) == "https://s3.eu-central-1.amazonaws.com/abc/releases.json")
        #expect(try url("s3://a.bc/p", nil) == "https://s3.eu-central-1.amazonaws.com/a.bc/p/releases.json")
        #expect(try url("s3://abc/p/", "http://store:9000/") == "http://store:9000/abc/p/releases.json")
        #expect(try url("s3://abc/p", "https://store", .virtualHost) == "https://abc.store/p/releases.json")
    }

    @Test("an error shows what the store wrote escaped and cut, and keeps its advice", arguments: [403, 307])
    func hostileStore(status: Int) async throws {
        let hostile = "\u{1B}[2J\nforged line" + String(repeating: "a", count: 60_000)
        let element = status == 307 ? "Region" : "Code"
        let store = FailingStore(failures: 9, status, "<Error><\(element)>\(hostile)</\(element)></Error>")
        let bucket = try S3Bucket(
            "s3://abc",
            .init(credentials: S3Credentials(accessKey: "k", secretKey: "s"), fetcher: store)
        )
        let error = await #expect(throws: PackError.self) { try await bucket.read("a", limit: 100) }
        let message = try #require(error?.message)
        #expect(message.contains("\\u{1B}[2J\\nforged line"))
        #expect(message.contains(status == 307 ? "set AWS_REGION=" : "allow s3:GetObject"))
        #expect(message.unicodeScalars.allSatisfy { !$0.isHidden })
        #expect(message.count < 1_000)
    }

    @Test(
        "invalid addresses are refused",
        arguments: [
            "s3:/abc", "s3://", "s3://AB", "s3://abc//x", "s3://abc/../x", "s3://abc/a b", "s3://abc/ä", "/srv",
        ]
    )
    func invalid(address: String) {
        #expect(throws: PackError.self) { try S3Location(address) }
    }

    @Test("the environment gives credentials, region and endpoint, and an error names what is missing")
    func environment() throws {
        let missing = #expect(throws: PackError.self) {
            try S3Bucket.Configuration(environment: ["AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": ""])
        }
        #expect(missing?.message.contains("set AWS_SECRET_ACCESS_KEY in the environment") == true)
        let all = try S3Bucket.Configuration(
            environment: [
                "AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s", "AWS_SESSION_TOKEN": "t",
                "AWS_DEFAULT_REGION": "eu-north-1", "AWS_ENDPOINT_URL": "http://a", "AWS_ENDPOINT_URL_S3": "http://b",
            ]
        )
        #expect(all.credentials == S3Credentials(accessKey: "k", secretKey: "s", sessionToken: "t"))
        #expect(all.region == "eu-north-1")
        #expect(all.endpoint?.absoluteString == "http://b")
    }
}

/// Lists two objects on two pages.
private struct PagedStore: PackFetching {
    func fetch(_ request: FetchRequest) async throws -> FetchedResponse {
        let query = request.url.query(percentEncoded: true) ?? ""
        let isSecond = query.contains("continuation-token=a%2Fb%3D")
        let next = "<IsTruncated>true</IsTruncated><NextContinuationToken>a/b=</NextContinuationToken>"
        let contents = isSecond ? ("2.zip", "2026-09-21T14:13:21.500Z") : ("1.zip", "2026-09-21T14:13:20Z")
        return FetchedResponse(
            status: 200,
            fields: [.date: isSecond ? "Mon, 21 Sep 2026 14:15:05 GMT" : "Mon, 21 Sep 2026 14:15:00 GMT"],
            url: request.url,
            text: """
                <ListBucketResult><Prefix>shop/packs/</Prefix>\(isSecond ? "<IsTruncated>false</IsTruncated>" : next)\
                <Contents><Key>shop/packs/\(contents.0)</Key><LastModified>\(contents.1)</LastModified></Contents>\
                </ListBucketResult>
                """
        )
    }
}

/// Answers the first requests with an error, by default 503.
private final class FailingStore: PackFetching {
    private let failures: Int
    private let status: Int
    private let text: String
    private let count = Mutex(0)

    init(failures: Int, _ status: Int = 503, _ text: String = "<Error><Code>SlowDown</Code></Error>") {
        (self.failures, self.status, self.text) = (failures, status, text)
    }

    var requests: Int { count.withLock { $0 } }

    func fetch(_ request: FetchRequest) async throws -> FetchedResponse {
        let isFailing = count.withLock { count in
            count += 1
            return count <= failures
        }
        return isFailing
            ? FetchedResponse(status: status, url: request.url, text: text)
            : FetchedResponse(status: 200, fields: [.eTag: "\"1\""], url: request.url, text: "a")
    }
}

extension FetchedResponse {
    fileprivate init(status: Int, fields: HTTPFields = [:], url: URL, text: String) {
        let (body, parts) = AsyncThrowingStream.makeStream(of: Data.self)
        parts.yield(Data(text.utf8))
        parts.finish()
        self.init(status: status, fields: fields, url: url, body: body)
    }
}
