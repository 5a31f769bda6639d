import ArgumentParser
import Foundation
import Waystation
import WaystationPacks
import WaystationRecording
import WaystationStorage

#if Gateway
import WaystationGateway
#endif

/// An error in the form that the tool prints: a code, a message, and the exit code.
struct Failure {
    private let code: String
    /// The message for programs; people get the usage with it.
    private let message: String
    private let fullMessage: String
    private let exitCode: ExitCode

    init(_ error: any Error) {
        switch error {
        case let error as PackError:
            self.init(error.code, error.message, cause: error.cause, error.code.exitCode)
        case let error as StoreError:
            self.init(error.code, error.message, cause: error.cause, error.code.exitCode)
        case let error as RecordingError:
            let isOfDisk = error.code == .unreadable || error.code == .unwritable
            self.init(error.code, error.message, cause: error.cause, isOfDisk ? .disk : .refused)
        case let error as CacheFailure:
            self.init(error.code, error.message, .refused)
        case let error as GatewayFailure:
            self.init(error.code, error.message, error.exitCode)
        case let error as WaystationError:
            // The message names the cause.
            self.init(error.code, error.message, error.code == .unusableDirectory ? .disk : .refused)
        #if Gateway
        case let error as GatewayError:
            self.init("notListening", error.description, .network)
        case let error as CertificateAuthorityError:
            self.init("unusableAuthority", error.description, error.subject == .files ? .disk : .refused)
        #endif
        default:
            self.init(
                "usage",
                WaystationCommand.message(for: error),
                WaystationCommand.exitCode(for: error),
                fullMessage: WaystationCommand.fullMessage(for: error)
            )
        }
    }

    private init(
        _ code: some CustomStringConvertible,
        _ message: String,
        cause: (any Error)? = nil,
        _ exitCode: ExitCode,
        fullMessage: String? = nil
    ) {
        self.code = code.description
        self.message = cause.map { "\(message) (\(PackError.text(of: $0)))" } ?? message
        self.fullMessage = fullMessage ?? "Error: \(self.message)"
        self.exitCode = exitCode
    }

    /// Prints the error and ends the process.
    ///
    /// Help and the version are not errors; a bare exit code has been explained already.
    func exit(_ format: OutputFormat) -> Never {
        if exitCode == .success {
            do {
                if !fullMessage.isEmpty { try Console.write(SampleCommands.unwrapped(in: fullMessage)) }
            } catch { Failure(error).exit(format) }
        } else if !fullMessage.isEmpty {
            let object = ["error": ["code": code, "message": message]]
            Console.writeError(format == .json ? (try? JSON.text(of: object)) ?? message : fullMessage)
        }
        Foundation.exit(exitCode.rawValue)
    }
}

extension PackError.Code {
    /// The exit code of the tool.
    var exitCode: ExitCode {
        switch self {
        case .network, .refused, .interrupted: .network
        case .noSpace, .fileSystem, .notDurable: .disk
        default: .refused
        }
    }
}

extension ExitCode {
    /// The input is damaged, not trusted, or contradicts the present state.
    static let refused = ExitCode(1)
    /// The network or the server failed.
    static let network = ExitCode(3)
    /// The disk failed or is full, or a file cannot be read.
    static let disk = ExitCode(4)
}
