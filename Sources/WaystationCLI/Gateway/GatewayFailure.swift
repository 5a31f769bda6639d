import ArgumentParser

/// The reason why a gateway does not start.
struct GatewayFailure: Error {
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
