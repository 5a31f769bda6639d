import ArgumentParser
import Foundation
import Logging
import ShopServer

/// Shows the kiosk on a screen.
struct ShowCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "show",
        abstract: "Shows the kiosk on the screen until its browser is closed."
    )

    @OptionGroup var pages: PageOptions

    @Option(help: "The port of the gateway.")
    var port = 8080

    @Option(help: "The browser, a program that takes --kiosk and a URL.")
    var browser = "chromium"

    func run() async throws {
        LoggingSystem.bootstrap { _ in SwiftLogNoOpLogHandler() }
        let scratch = try PageOptions.makeScratch()
        defer { try? FileManager.default.removeItem(at: scratch) }
        let servers = try await Servers(lab: pages.folder, version: "1.0", in: scratch)
        let kiosk = try Kiosk(servers, as: .ada, in: scratch.appending(path: "kiosk"), port: port)
        let start = try await kiosk.open()
        print("the kiosk's start page is \(start)")
        print(try await kiosk.update())
        try await show(start, in: scratch)
        await kiosk.close()
        await servers.stop()
    }

    /// Starts the browser, and returns when it has ended.
    private func show(_ start: URL, in scratch: URL) async throws {
        let process = Process()
        process.executableURL = URL(filePath: "/usr/bin/env")
        process.arguments = [
            browser, "--kiosk", "--no-first-run", "--user-data-dir=\(scratch.appending(path: "profile").path)",
            start.absoluteString,
        ]
        let status: CInt = try await withCheckedThrowingContinuation { ended in
            process.terminationHandler = { ended.resume(returning: $0.terminationStatus) }
            do { try process.run() } catch { ended.resume(throwing: error) }
        }
        guard status == 0 else {
            throw Unexpected("\(browser) ended with \(status): name a browser that is installed with --browser")
        }
    }
}
