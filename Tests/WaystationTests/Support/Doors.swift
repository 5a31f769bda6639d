import Foundation
import FoundationNetworking
import Testing
import Waystation
import WaystationNIO

#if AsyncHTTPClient
import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import WaystationAsyncHTTPClient
#endif

/// The door through which a test loads.
enum LoadingDoor: String, CaseIterable {
    case session
    /// A session over the engine on SwiftNIO, to tell what is the engine's from what is a door's.
    case nioSession = "nio-session"
    case client
    case nioClient = "nio-client"
    #if AsyncHTTPClient
    case asyncHTTPClient = "ahc"
    #endif

    /// The door of the fixtures: a session, unless the variable `WAYSTATION_DOOR` names another one.
    ///
    /// `make doors` runs the tests of the cache through each.
    static let present = LoadingDoor(rawValue: ProcessInfo.processInfo.environment["WAYSTATION_DOOR"] ?? "") ?? .session

    /// The door for requests with cache policies, which AsyncHTTPClient's do not have.
    static let presentWithPolicies: LoadingDoor = present.isOfAsyncHTTPClient ? .client : present

    #if AsyncHTTPClient
    /// A client that tells at once that a server is not there.
    static let http: HTTPClient = {
        var configuration = HTTPClient.Configuration()
        configuration.connectionPool.retryConnectionEstablishment = false
        return HTTPClient(configuration: configuration)
    }()
    #endif

    var isOfAsyncHTTPClient: Bool {
        #if AsyncHTTPClient
        self == .asyncHTTPClient
        #else
        false
        #endif
    }

    /// Whether the engine on SwiftNIO makes the exchanges.
    var isOfSwiftNIO: Bool { self != .session && self != .client }

    var carrier: Interceptor.Carrier {
        switch self {
        case .session, .client: .urlSession
        case .nioSession, .nioClient: .nio
        #if AsyncHTTPClient
        case .asyncHTTPClient: .asyncHTTPClient(Self.http)
        #endif
        }
    }
}

/// All doors of one interceptor.
struct Doors: Sendable {
    /// A response as any door delivers it.
    struct Loaded {
        var status: Int
        var url: URL?
        var body: Data
        /// With names in lower case.
        var fields: [String: String]

        private init(_ status: Int, _ url: URL?, _ body: Data, _ fields: [(String, String)]) {
            self.status = status
            self.url = url
            self.body = body
            self.fields = Dictionary(fields.map { ($0.lowercased(), $1) }) { $0 + ", " + $1 }
        }

        fileprivate init(_ head: HTTPURLResponse, _ body: Data) {
            let fields = (head.allHeaderFields as? [String: String] ?? [:]).map { ($0, $1) }
            self.init(head.statusCode, head.url, body, fields)
        }

        #if AsyncHTTPClient
        fileprivate init(_ head: HTTPClientResponse, _ body: Data) {
            self.init(Int(head.status.code), head.url, body, head.headers.map { ($0, $1) })
        }
        #endif
    }

    private let session: URLSession
    private let client: DirectClient
    #if AsyncHTTPClient
    private let httpClient: InterceptedHTTPClient
    #endif

    /// Makes the doors beside a session of the interceptor, whose storages of cookies and credentials they have, too.
    init(of interceptor: Interceptor, _ session: URLSession) {
        self.session = session
        client = interceptor.client(configuration: session.configuration)
        #if AsyncHTTPClient
        httpClient = interceptor.httpClient(over: LoadingDoor.http)
        #endif
    }

    /// Loads a whole response.
    func load(_ request: URLRequest, by door: LoadingDoor) async throws -> Loaded {
        switch door {
        case .session, .nioSession:
            let (data, response) = try await session.data(for: request)
            return Loaded(try #require(response as? HTTPURLResponse), data)
        case .client, .nioClient:
            let (data, head) = try await client.data(for: request)
            return Loaded(head, data)
        #if AsyncHTTPClient
        case .asyncHTTPClient:
            let response = try await httpClient.execute(HTTPClientRequest(request), timeout: request.timeout)
            let body = try await response.body.collect(upTo: 1 << 30)
            return Loaded(response, Data(body.readableBytesView))
        #endif
        }
    }

    /// Reads a body part by part, and stands still after the first one.
    ///
    /// - Parameters:
    ///   - request: The request.
    ///   - door: The door.
    ///   - pause: Called when the first part has arrived; the rest is read if it returns true, and dropped otherwise.
    /// - Returns: The bytes that were read.
    /// - Throws: The error of the door.
    func read(
        _ request: URLRequest,
        by door: LoadingDoor,
        pausing pause: @escaping @Sendable () async -> Bool
    ) async throws -> Data {
        func all(of parts: some AsyncSequence<Data, any Error>) async throws -> Data {
            var bytes = Data()
            for try await part in parts {
                if bytes.isEmpty, await !pause() { return part }
                bytes.append(part)
            }
            return bytes
        }
        switch door {
        case .session, .nioSession:
            let paused = Counter()
            let delegate = RecordingDelegate(received: { task in
                guard paused.next() == 1 else { return }
                task.suspend()
                Task { if await pause() { task.resume() } else { task.cancel() } }
            })
            let session = URLSession(configuration: session.configuration, delegate: delegate, delegateQueue: nil)
            defer { session.finishTasksAndInvalidate() }
            session.dataTask(with: request).resume()
            await delegate.completion()
            return delegate.body
        case .client, .nioClient: return try await all(of: client.response(for: request).body)
        #if AsyncHTTPClient
        case .asyncHTTPClient:
            let response = try await httpClient.execute(HTTPClientRequest(request), timeout: request.timeout)
            return try await all(of: response.body.map { Data($0.readableBytesView) })
        #endif
        }
    }
}

#if AsyncHTTPClient
extension HTTPClientRequest {
    fileprivate init(_ request: URLRequest) {
        self.init(url: request.url?.absoluteString ?? "")
        method = HTTPMethod(rawValue: request.httpMethod ?? "GET")
        for (name, value) in request.allHTTPHeaderFields ?? [:] { headers.add(name: name, value: value) }
        body = request.httpBody.map { .bytes(ByteBuffer(bytes: $0)) }
    }
}

extension URLRequest {
    fileprivate var timeout: TimeAmount { .milliseconds(Int64(timeoutInterval * 1_000)) }
}
#endif
