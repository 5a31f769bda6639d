package import Foundation
import Synchronization

/// A real browser without a window, for tests of what users of a browser see.
///
/// ```text
/// let browser = try await Browser()
/// let page = try await browser.page()
/// try await page.open(url)
/// try await page.click(.named("Sign in"))
/// try await page.waitUntil("document.title === 'Shop'")
/// await browser.close()
/// ```
///
/// It is Debian's `chromium-headless-shell`, driven over the Chrome DevTools Protocol, with an empty profile of its
/// own. It ends with all its processes when the value and its pages are released, and when this process ends. If it
/// ends by itself, everything that waits for it throws a ``BrowserFailure`` with the end of its error output. All
/// members may be called from any thread.
public final class Browser: Sendable {
    private static let program = "/usr/lib/chromium/chromium-headless-shell"

    let connection: BrowserConnection
    private let process: SpawnedProcess
    private let scratch: URL
    /// The directory of everything that the browser keeps.
    package var profile: URL { scratch.appending(path: "profile") }

    /// Starts a browser, and returns when it takes commands.
    ///
    /// - Parameter arguments: More arguments of the program, such as `--proxy-server=127.0.0.1:8080`.
    /// - Throws: ``SpawnedProcessFailure`` or ``BrowserFailure`` when it cannot be started.
    public init(_ arguments: [String] = []) async throws {
        let scratch = FileManager.default.temporaryDirectory.appending(path: "browser-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: scratch, withIntermediateDirectories: true)
        let log = scratch.appending(path: "errors")
        let (near, far) = try Descriptor.socketPair()
        // The browser reads commands from descriptor 3 and writes to 4. The browser ends when the socket is closed,
        // also when this process is killed. The program itself is started, because the script of its name does not pass
        // on signals.
        let process = try SpawnedProcess(
            connectedTo: far,
            "/bin/sh",
            [
                "-c", #"exec "$0" "$@" 3<&0 4>&0 </dev/null"#, Self.program, "--no-sandbox", "--disable-gpu",
                "--disable-dev-shm-usage", "--user-data-dir=\(scratch.appending(path: "profile").path)",
                "--remote-debugging-pipe",
            ] + arguments + ["about:blank"],
            errors: .file(log)
        )
        far.close()
        connection = BrowserConnection(near)
        self.process = process
        self.scratch = scratch
        connection.start { [process] in
            let ending = process.wait()
            let text = (try? Data(contentsOf: log)).map { String(decoding: $0.suffix(2_000), as: UTF8.self) }
            return "the browser ended (\(ending)): \(text ?? "no error output")"
        }
        do { try await connection.send("Browser.getVersion") } catch {
            guard FileManager.default.isExecutableFile(atPath: Self.program) else {
                throw BrowserFailure("\(Self.program) is not installed: apt-get install chromium-headless-shell")
            }
            throw error
        }
    }

    deinit {
        let (process, scratch) = (process, scratch)
        connection.close()
        Thread.detachNewThread { Self.end(process, scratch) }
    }

    /// Opens an empty page.
    ///
    /// - Throws: ``BrowserFailure`` when the browser has ended.
    public func page() async throws -> Page {
        let target = try await connection.send("Target.createTarget", ["url": "about:blank"])["targetId"]
        let reply = try await connection.send("Target.attachToTarget", ["targetId": target, "flatten": true])
        guard let session = reply["sessionId"].string else { throw BrowserFailure("the browser made no page") }
        return try await Page(session, in: self)
    }

    /// Ends the browser, and returns when its process has ended and its profile is removed.
    ///
    /// Whatever still waits for the browser throws a ``BrowserFailure``. Calling this again does nothing.
    public func close() async {
        connection.close()
        await withCheckedContinuation { continuation in
            Thread.detachNewThread { [process, scratch] in
                Self.end(process, scratch)
                continuation.resume()
            }
        }
    }

    /// Kills the browser, as a crash of it would.
    public func kill() { process.send(SIGKILL) }

    private static func end(_ process: SpawnedProcess, _ scratch: URL) {
        // The closed connection ends the browser; one that hangs is killed.
        if process.wait(idleFor: 30) == nil { process.send(SIGKILL) }
        process.wait()
        try? FileManager.default.removeItem(at: scratch)
    }
}
