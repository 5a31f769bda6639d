import ArgumentParser
import Foundation
import Logging

/// The program.
@main
struct LoginCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "login",
        abstract: "One login for an app's own requests and for its pages.",
        subcommands: [DemoCommand.self]
    )
}

/// Runs the shop and the app, and prints what both of them see.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Walks through a shop: native, page, native, offline, logged out, a second person."
    )

    func run() async throws {
        // The walk goes offline on purpose and prints that itself, so log messages would only repeat it.
        LoggingSystem.bootstrap { _ in SwiftLogNoOpLogHandler() }
        let scratch = FileManager.default.temporaryDirectory.appending(path: "waystation-login-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: scratch) }
        try await Walk(cache: scratch) { print($0) }.run()
    }
}
