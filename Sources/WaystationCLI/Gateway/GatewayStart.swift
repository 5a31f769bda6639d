import ArgumentParser
import Foundation
import WaystationHTTP
import WaystationProcesses

/// The addresses of the pages of a gateway that has begun to listen.
struct GatewayStart: CommandResult {
    struct Page: Encodable {
        let url: URL
        let local: URL
    }

    let port: Int
    let pages: [Page]
    let proxy: String?
    let authority: AuthoritySummary?
    let inspector: URL?

    var text: String {
        var lines: [String] = []
        if !pages.isEmpty {
            lines.append(Words.table(pages.map { [$0.url.absoluteString, "→", $0.local.absoluteString] }))
        }
        if let inspector { lines.append("the inspector is \(inspector.absoluteString)") }
        if let proxy {
            let hosts = authority.map { ", with certificates for \($0.names.joined(separator: ", "))" } ?? ""
            lines.append("the proxy is \(proxy)\(hosts)")
        }
        if let reason = authority?.madeBecause {
            lines.append(
                "the authority is new, because \(reason): `waystation gateway trust` prints the commands that install it in browsers"
            )
        }
        lines.append("listening on port \(port), until Ctrl-C")
        return lines.joined(separator: "\n")
    }

    /// Opens the first page in the browser of the desktop.
    func openFirstPage() {
        guard let page = pages.first?.local.absoluteString else {
            return Console.writeError("warning: --open has no page to open: name one as `start` in the rules")
        }
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":")
        let programs = folders.map { "\($0)/xdg-open" }
        guard let program = programs.first(where: FileManager.default.isExecutableFile),
            (try? SpawnedProcess(program, [page])) != nil
        else {
            return Console.writeError("warning: xdg-open is not installed (package xdg-utils): open \(page) yourself")
        }
    }
}

/// The reason why a gateway does not start.
struct GatewayFailure: CodedError {
    let code: String
    let message: String
    let exitCode: ExitCode

    /// The file of the rules cannot be read.
    static func unreadable(_ message: String) -> GatewayFailure {
        GatewayFailure(code: "unreadable", message: message, exitCode: .disk)
    }

    /// The file of the rules has mistakes.
    static func invalidRules(_ message: String) -> GatewayFailure {
        GatewayFailure(code: "invalidRules", message: message, exitCode: .refused)
    }

    /// The file of the rules and the command line name no authority.
    static func noAuthority(_ file: String) -> GatewayFailure {
        GatewayFailure(
            code: "noAuthority",
            message: """
                \(file) names no directory for an authority: write `directory = "authority"` under `[authority]`, or give \
                --authority
                """,
            exitCode: .refused
        )
    }

    /// The tool has no gateway.
    static let notBuilt = GatewayFailure(
        code: "notBuilt",
        message: """
            this waystation was built without the gateway: build it with `swift build -c release --traits Gateway \
            --product waystation`
            """,
        exitCode: .refused
    )
}
