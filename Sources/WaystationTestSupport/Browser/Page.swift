public import Foundation
import Synchronization

/// A page in a ``Browser``; it keeps the browser running.
public final class Page: Sendable {
    /// How long a page may take until a condition holds, in milliseconds: long enough for a machine that is busy.
    static let patience = 600_000

    private let browser: Browser
    private let session: String
    private let errors = Mutex<[String]>([])

    init(_ session: String, in browser: Browser) async throws {
        self.browser = browser
        self.session = session
        browser.connection.listen(to: session) { [weak self] event, parameters in
            guard let error = Self.error(event, parameters) else { return }
            self?.errors.withLock { $0.append(error) }
        }
        for domain in ["Page", "Runtime", "Log", "Inspector"] { try await send("\(domain).enable") }
        try await send("Page.setLifecycleEventsEnabled", ["enabled": true])
    }

    /// Sends a command of the protocol to the page.
    ///
    /// - Parameters:
    ///   - method: The command, such as `Page.reload`.
    ///   - parameters: Its parameters.
    /// - Returns: The result.
    /// - Throws: ``BrowserFailure`` with the browser's message if it refuses the command, or if it ends.
    @discardableResult
    public func send(_ method: String, _ parameters: JSONValue = [:]) async throws -> JSONValue {
        try await browser.connection.send(method, parameters, to: session)
    }

    /// Shows a URL, and returns when the document and its resources are loaded.
    ///
    /// - Throws: ``BrowserFailure`` if the browser cannot load the URL. An HTTP status such as 404 is not a failure.
    public func open(_ url: URL) async throws {
        let reply = try await send("Page.navigate", ["url": .string(url.absoluteString)])
        if let error = reply["errorText"].string {
            throw BrowserFailure("the browser cannot open \(url.absoluteString): \(error)")
        }
        // A navigation within the document has no loader.
        guard let loader = reply["loaderId"].string else { return }
        try await browser.connection.load(loader, of: session)
    }

    /// Runs a script in the page.
    ///
    /// - Parameter script: The script, which may use `await` at its top level.
    /// - Returns: The value of its last expression; that of a promise is awaited.
    /// - Throws: ``BrowserFailure`` if the script throws.
    @discardableResult
    public func evaluate(_ script: String) async throws -> JSONValue {
        let reply = try await send(
            "Runtime.evaluate",
            ["expression": .string(script), "awaitPromise": true, "userGesture": true, "replMode": true]
        )
        let result = try Self.result(of: reply)
        guard let object = result["objectId"].string else { return result["value"] }
        // In this mode, which allows `await`, the browser neither awaits a promise that is the result nor copies it.
        let value = try await call("function() { return this }", on: object)
        try? await release(object)
        return value
    }

    /// Waits until a condition holds, also across navigations.
    ///
    /// The page itself looks at the condition again and again.
    ///
    /// - Parameter condition: An expression. It does not hold as long as it throws.
    /// - Throws: ``BrowserFailure`` with the text of the page if the condition does not hold within two minutes.
    public func waitUntil(_ condition: String) async throws {
        let value = try await find(
            "async () => (\(condition)) ? { found: true } : null",
            orFail: "the page did not come to this condition: \(condition)"
        )
        // The page keeps the object for this call alone.
        try? await release(value)
    }

    /// Waits until a function of the page returns something else than null, and returns a reference to it.
    func find(_ function: String, orFail failure: String) async throws -> String {
        let script = """
            (async () => {
                const find = \(function), start = performance.now();
                let problem = "";
                while (performance.now() - start < \(Self.patience)) {
                    try { const found = await find(); if (found) return found; problem = "" }
                    catch (error) { problem = ` (${error})` }
                    await new Promise(go => setTimeout(go, 20));
                }
                return problem + "; its text: " + document.body?.innerText.slice(0, 1000);
            })()
            """
        while true {
            do {
                let reply = try await send(
                    "Runtime.evaluate",
                    ["expression": .string(script), "awaitPromise": true, "userGesture": true]
                )
                let result = try Self.result(of: reply)
                if let object = result["objectId"].string { return object }
                throw BrowserFailure(failure + (result["value"].string ?? ""))
            } catch let error as BrowserFailure where error.isNavigation {
                // The next document is asked instead.
            }
        }
    }

    /// Calls a function of the page with an object of it as `this`.
    func call(_ function: String, on object: String) async throws -> JSONValue {
        let reply = try await send(
            "Runtime.callFunctionOn",
            [
                "objectId": .string(object), "functionDeclaration": .string(function), "awaitPromise": true,
                "returnByValue": true, "userGesture": true,
            ]
        )
        return try Self.result(of: reply)["value"]
    }

    func release(_ object: String) async throws {
        try await send("Runtime.releaseObject", ["objectId": .string(object)])
    }

    private static func result(of reply: JSONValue) throws -> JSONValue {
        let problem = reply["exceptionDetails"]
        guard problem != .null else { return reply["result"] }
        let text = problem["exception"]["description"].string ?? problem["text"].string ?? "unknown"
        throw BrowserFailure("a script in the page failed: \(text)")
    }

    // MARK: - Errors

    /// The errors that the page reported so far: exceptions that no script caught, `console.error`, failed loads,
    /// violations of its policy.
    public var consoleErrors: [String] { errors.withLock { $0 } }

    private static func error(_ event: String, _ parameters: JSONValue) -> String? {
        switch event {
        case "Runtime.exceptionThrown":
            let details = parameters["exceptionDetails"]
            return details["exception"]["description"].string ?? details["text"].string
        case "Runtime.consoleAPICalled" where parameters["type"] == "error":
            return parameters["args"].elements.map { $0["value"].string ?? $0["description"].string ?? "" }
                .joined(separator: " ")
        case "Log.entryAdded" where parameters["entry"]["level"] == "error":
            let entry = parameters["entry"]
            return (entry["text"].string ?? "") + (entry["url"].string.map { " (\($0))" } ?? "")
        default: return nil
        }
    }
}

extension BrowserFailure {
    /// Whether a script ended because its document was replaced.
    fileprivate var isNavigation: Bool {
        ["context was destroyed", "Cannot find context", "navigated or closed", "Promise was collected"]
            .contains { description.contains($0) }
    }
}
