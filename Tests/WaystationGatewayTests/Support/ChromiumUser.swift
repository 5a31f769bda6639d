#if Gateway
import Foundation
import Testing
import WaystationTestSupport

/// A user of Chromium with a home of their own, and so with certificates of their own.
final class ChromiumUser: Sendable {
    private let home: TemporaryFolder

    init() throws { home = try TemporaryFolder() }

    private var environment: [String: String] {
        ProcessInfo.processInfo.environment.merging(["HOME": home.url.path]) { $1 }
    }

    /// Runs commands of a shell as this user.
    func run(_ commands: [String]) async throws {
        for command in commands {
            let run = try await Programs.run("/bin/sh", ["-c", command], environment: environment)
            try #require(run.ending == .exited(0), "\(command): \(run.errorText)")
        }
    }

    /// Shows a page.
    ///
    /// - Returns: The document when it has loaded, and the errors that Chromium prints.
    func show(_ url: String, _ switches: [String]) async throws -> (document: String, errors: String) {
        let shown = try await Programs.run(
            "/usr/lib/chromium/chromium-headless-shell",
            [
                "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--user-data-dir=\(home.path("profile"))",
                "--dump-dom",
            ] + switches + [url],
            environment: environment
        )
        return (shown.text, shown.errorText)
    }
}
#endif
