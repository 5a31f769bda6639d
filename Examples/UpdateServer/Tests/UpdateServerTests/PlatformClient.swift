import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import Testing

/// The answer of a server, over a socket or from its router.
struct ServerAnswer: Sendable {
    let status: HTTPResponse.Status
    let headers: HTTPFields
    let body: ByteBuffer
}

/// Sends requests to an application that a test runs.
struct PlatformClient: Sendable {
    /// The way in which requests reach the application.
    enum Way: CaseIterable {
        /// To the router, without a connection.
        case router
        /// Over a socket.
        case socket
    }

    /// The port on which the application listens; nil without a socket.
    let port: Int?
    private let send: Send

    fileprivate typealias Send =
        @Sendable (_ uri: String, HTTPRequest.Method, HTTPFields, _ body: ByteBuffer?) async throws -> ServerAnswer

    fileprivate init(port: Int?, send: @escaping Send) {
        self.port = port
        self.send = send
    }

    func execute(
        uri: String,
        method: HTTPRequest.Method,
        headers: HTTPFields = [:],
        body: ByteBuffer? = nil
    ) async throws -> ServerAnswer {
        try await send(uri, method, headers, body)
    }
}

extension PlatformClient {
    /// Asks the server at a port of loopback, which may stand before the application, over one connection.
    static func connected<Value: Sendable>(
        to port: Int,
        _ questions: @Sendable (PlatformClient) async throws -> Value
    ) async throws -> Value {
        let client = TestClient(host: "localhost", port: port, configuration: .init(timeout: .seconds(600)))
        client.connect()
        let result: Result<Value, any Error>
        do {
            result = .success(
                try await questions(
                    PlatformClient(port: port) { uri, method, headers, body in
                        let answer = try await client.execute(
                            .init(uri, method: method, authority: "localhost", headers: headers, body: body)
                        )
                        return ServerAnswer(
                            status: answer.status,
                            headers: answer.headers,
                            body: answer.body ?? ByteBuffer()
                        )
                    }
                )
            )
        } catch {
            result = .failure(error)
        }
        try await client.shutdown()
        return try result.get()
    }
}

extension ApplicationProtocol {
    /// Runs the application for a test.
    ///
    /// Hummingbird's own test client ends a request over a socket after 20 seconds. This client waits for ten minutes,
    /// since a busy machine may need more than 20 seconds.
    func ask<Value: Sendable>(
        _ way: PlatformClient.Way,
        _ questions: @Sendable (PlatformClient) async throws -> Value
    ) async throws -> Value {
        switch way {
        case .router:
            try await test(TestingSetup.router) { client in
                try await questions(
                    PlatformClient(port: nil) { uri, method, headers, body in
                        let answer = try await client.executeRequest(
                            uri: uri,
                            method: method,
                            headers: headers,
                            body: body
                        )
                        return ServerAnswer(status: answer.status, headers: answer.headers, body: answer.body)
                    }
                )
            }
        case .socket:
            try await test(TestingSetup.live) { live in
                let port = try #require(live.port)
                return try await PlatformClient.connected(to: port, questions)
            }
        }
    }
}
