import Foundation
import Synchronization

/// The connection to a browser: commands, their replies, and events (Chrome DevTools Protocol).
///
/// Both directions carry JSON texts that end with a zero byte. A thread of its own reads them.
final class BrowserConnection: Sendable {
    /// Something that the browser reports later.
    private enum Awaited: Hashable {
        case reply(Int)
        /// The end of the loading of a document.
        case load(String)
    }

    private struct Wait {
        let session: String?
        let continuation: CheckedContinuation<JSONValue, any Error>
    }

    private struct State {
        var commands = 0
        var waits: [Awaited: Wait] = [:]
        /// Documents that were loaded before anything waited for them.
        var loaded: Set<String> = []
        /// The present document of each session, and the documents that replaced others.
        ///
        /// A document whose script leads elsewhere may be replaced before it is loaded.
        var documents: [String: String] = [:]
        var successors: [String: String] = [:]
        var listeners: [String: @Sendable (_ event: String, _ parameters: JSONValue) -> Void] = [:]
        /// The sessions whose pages have crashed: they answer no command.
        var crashed: Set<String> = []
        var end: BrowserFailure?
    }

    private struct Command: Encodable {
        let id: Int
        let method: String
        let params: JSONValue
        let sessionId: String?
    }

    private struct Message: Decodable {
        struct Failure: Decodable { let message: String }

        let id: Int?
        let method: String?
        let params: JSONValue?
        let sessionId: String?
        let result: JSONValue?
        let error: Failure?
    }

    private static let crash = BrowserFailure("the process of the page crashed")

    private let socket: Descriptor
    private let state = Mutex(State())
    private let sending = Mutex(())

    init(_ socket: Descriptor) { self.socket = socket }

    /// Begins to read, until the connection ends.
    ///
    /// - Parameter describeEnd: Returns the reason why the browser ended the connection.
    func start(_ describeEnd: @escaping @Sendable () -> String) {
        Thread.detachNewThread { [self] in
            var received = Data()
            var buffer = [UInt8](repeating: 0, count: 64 << 10)
            while true {
                let count = recv(socket.number, &buffer, buffer.count, 0)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { break }
                guard buffer[..<count].contains(0) else {
                    received.append(contentsOf: buffer[..<count])
                    continue
                }
                var parts = buffer[..<count].split(separator: 0, omittingEmptySubsequences: false)
                let rest = parts.removeLast()
                for part in parts {
                    received.append(contentsOf: part)
                    receive(received)
                    received = Data()
                }
                received.append(contentsOf: rest)
            }
            end(BrowserFailure(describeEnd()))
        }
    }

    /// Ends the connection, which also ends the browser.
    func close() {
        end(BrowserFailure("the browser was closed"))
        _ = shutdown(socket.number, CInt(SHUT_RDWR))
    }

    /// Calls a function for each event of a session.
    func listen(to session: String, _ take: @escaping @Sendable (_ event: String, _ parameters: JSONValue) -> Void) {
        state.withLock { $0.listeners[session] = take }
    }

    /// Sends a command, and waits for its reply.
    ///
    /// - Throws: ``BrowserFailure`` if the browser refuses the command or ends; `CancellationError`.
    @discardableResult
    func send(_ method: String, _ parameters: JSONValue = [:], to session: String? = nil) async throws -> JSONValue {
        let id = state.withLock { state in
            state.commands += 1
            return state.commands
        }
        let command = Command(id: id, method: method, params: parameters, sessionId: session)
        let data = try JSONEncoder().encode(command) + [0]
        return try await wait(for: .reply(id), of: session) { [self] in
            sending.withLock { _ in
                var rest = data[...]
                while !rest.isEmpty {
                    // A browser that has ended must not end this process by a signal.
                    let count = rest.withUnsafeBytes {
                        Glibc.send(socket.number, $0.baseAddress, $0.count, CInt(MSG_NOSIGNAL))
                    }
                    if count < 0, errno == EINTR { continue }
                    // The reader reports the end of the browser.
                    guard count > 0 else { return }
                    rest = rest.dropFirst(count)
                }
            }
        }
    }

    /// Waits until a document and its resources are loaded, or one that has replaced it.
    ///
    /// - Parameters:
    ///   - loader: The identifier that the browser gave to the navigation.
    ///   - session: The session of the page.
    /// - Throws: ``BrowserFailure`` if the page crashes or the browser ends; `CancellationError`.
    func load(_ loader: String, of session: String) async throws {
        var loader = loader
        while true {
            let next = try await wait(for: .load(loader), of: session) {}
            // The value is the document that has replaced the one that was waited for.
            guard let successor = next.string else { return }
            loader = successor
        }
    }

    private func wait(for awaited: Awaited, of session: String?, _ begin: () -> Void) async throws -> JSONValue {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result: Result<JSONValue, any Error>? = state.withLock { state in
                    if Task.isCancelled { return .failure(CancellationError()) }
                    if let end = state.end { return .failure(end) }
                    if let session, state.crashed.contains(session) { return .failure(Self.crash) }
                    if case .load(let loader) = awaited {
                        if state.loaded.remove(loader) != nil { return .success(.null) }
                        if let next = state.successors[loader] { return .success(.string(next)) }
                    }
                    state.waits[awaited] = Wait(session: session, continuation: continuation)
                    return nil
                }
                if let result { continuation.resume(with: result) } else { begin() }
            }
        } onCancel: {
            finish(awaited, .failure(CancellationError()))
        }
    }

    // MARK: - Messages

    private func receive(_ text: Data) {
        guard let message = try? JSONDecoder().decode(Message.self, from: text) else {
            let start = String(decoding: text.prefix(200), as: UTF8.self)
            return end(BrowserFailure("the browser sent a message that is not understood: \(start)"))
        }
        if let id = message.id {
            let result = message.error.map { Result<JSONValue, any Error>.failure(BrowserFailure($0.message)) }
            return finish(.reply(id), result ?? .success(message.result ?? .null))
        }
        guard let session = message.sessionId, let method = message.method else { return }
        let parameters = message.params ?? .null
        switch method {
        case "Page.lifecycleEvent" where parameters["name"] == "load":
            guard let loader = parameters["loaderId"].string else { return }
            finish(.load(loader), .success(.null))
        case "Page.frameNavigated" where parameters["frame"]["parentId"] == .null:
            guard let loader = parameters["frame"]["loaderId"].string else { return }
            let replaced = state.withLock { state in
                defer { state.documents[session] = loader }
                guard let before = state.documents[session], before != loader else { return String?.none }
                state.successors[before] = loader
                return state.waits[.load(before)] == nil ? nil : before
            }
            if let replaced { finish(.load(replaced), .success(.string(loader))) }
        case "Inspector.targetCrashed": endPage(of: session)
        default:
            let listener = state.withLock { $0.listeners[session] }
            listener?(method, parameters)
        }
    }

    private func finish(_ awaited: Awaited, _ result: Result<JSONValue, any Error>) {
        let wait = state.withLock { state in
            if case .load(let loader) = awaited, state.waits[awaited] == nil { state.loaded.insert(loader) }
            return state.waits.removeValue(forKey: awaited)
        }
        wait?.continuation.resume(with: result)
    }

    private func endPage(of session: String) {
        let waits = state.withLock { state in
            state.crashed.insert(session)
            let waits = state.waits.filter { $0.value.session == session }
            for awaited in waits.keys { state.waits[awaited] = nil }
            return waits
        }
        for wait in waits.values { wait.continuation.resume(throwing: Self.crash) }
    }

    private func end(_ failure: BrowserFailure) {
        let waits = state.withLock { state in
            if state.end == nil { state.end = failure }
            defer { state.waits = [:] }
            return state.waits
        }
        for wait in waits.values { wait.continuation.resume(throwing: failure) }
    }
}

/// An error that says what a browser, or a page in it, did not do.
public struct BrowserFailure: Error, CustomStringConvertible {
    /// A sentence that says what went wrong.
    public let description: String

    init(_ description: String) { self.description = description }
}
