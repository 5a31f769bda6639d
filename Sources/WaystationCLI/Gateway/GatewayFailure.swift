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
}
