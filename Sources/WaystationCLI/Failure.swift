import ArgumentParser
import Foundation
import Waystation
import WaystationHTTP
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
        case let error as FileError: self.init("fileSystem", error.message, .disk)
        case let error as any CodedError:
            self.init("\(error.code)", error.message, cause: error.unnamedCause, Self.exitCode(of: error))
        default:
            self.init(
                "usage",
                WaystationCommand.message(for: error),
                WaystationCommand.exitCode(for: error),
                fullMessage: WaystationCommand.fullMessage(for: error)
            )
        }
    }

    private static func exitCode(of error: any CodedError) -> ExitCode {
        switch error {
        case let error as PackError: error.code.exitCode
        case let error as StoreError: error.code.exitCode
        case let error as RecordingError: [.unreadable, .unwritable].contains(error.code) ? .disk : .refused
        case let error as GatewayFailure: error.exitCode
        case let error as WaystationError: error.code == .unusableDirectory ? .disk : .refused
        #if Gateway
        case let error as GatewayError: error.code == .notListening ? .network : .refused
        case let error as CertificateAuthorityError: error.code == .unusableDirectory ? .disk : .refused
        #endif
        default: .refused
        }
    }

    private init(
        _ code: String,
        _ message: String,
        cause: (any Error)? = nil,
        _ exitCode: ExitCode,
        fullMessage: String? = nil
    ) {
        self.code = code
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

extension CodedError {
    /// The cause, if the message does not name it, as the description shows.
    fileprivate var unnamedCause: (any Error)? { description == "\(code): \(message)" ? nil : cause }
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

/// Puts each sample command in the help texts on one line, so that it can be copied.
///
/// The argument parser wraps them like prose at the width of the terminal, and a shell would treat the rest of a
/// wrapped command as another one.
enum SampleCommands {
    private static let mark = "  waystation "

    /// A help text with each sample command on one line.
    static func unwrapped(in help: String) -> String {
        var lines = help.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        let samples = Set(all(of: WaystationCommand.self))
        var index = 0
        while index < lines.count {
            defer { index += 1 }
            guard lines[index].hasPrefix(mark) else { continue }
            var joined = lines[index]
            for next in index..<lines.count {
                if next > index { joined += " " + lines[next].drop { $0 == " " } }
                guard samples.contains(joined) else { continue }
                lines.replaceSubrange(index...next, with: [joined])
                break
            }
        }
        return lines.joined(separator: "\n")
    }

    /// The sample commands of a command and its subcommands, in the form of their source.
    private static func all(of command: any ParsableCommand.Type) -> [String] {
        command.configuration.discussion.split(separator: "\n").map(String.init).filter { $0.hasPrefix(mark) }
            + command.configuration.subcommands.flatMap(all)
    }
}

/// The tool `waystation`; its commands only call the library.
@main
struct WaystationCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "waystation",
        abstract: "Makes, publishes and installs offline packs, manages response caches, and shows pages in browsers.",
        discussion: """
            A pack is a zip of web files with a manifest. Build a pack from a folder, publish it into a directory \
            that any file server can serve, or into a bucket, and clients follow:

              waystation keys generate -o release.key
              waystation pack build site --module shop --pack-version 1.4 --base-url https://shop.example/app/ \
            -o shop-1.4.zip
              waystation publish shop-1.4.zip --to /srv/packs --key release.key

            Every command takes --format json and then writes one object to standard output; errors go to standard \
            error, as {"error":{"code":…,"message":…}}.

            Exit codes: 0 done · 1 refused or damaged: the input cannot be used as it is · 3 the network or the server \
            failed · 4 the disk failed or is full, or a file cannot be read · 64 wrong usage.
            """,
        version: SoftwareVersion.current,
        subcommands: [
            PackCommand.self, PublishCommand.self, RenewCommand.self, RollbackCommand.self, DisableCommand.self,
            EnableCommand.self, MinimumCommand.self, NetworkCommand.self, PruneCommand.self, ListCommand.self,
            KeysCommand.self, UpdateCommand.self,
            CacheCommand.self, GatewayCommand.self, DoctorCommand.self, TrapCommand.self,
        ]
    )

    static func main() async {
        // The format is read before the arguments are parsed, so that errors of usage also get the requested form.
        let format = OutputFormat(arguments: CommandLine.arguments)
        do {
            var command = try parseAsRoot()
            if var command = command as? any AsyncParsableCommand {
                try await command.run()
            } else {
                try command.run()
            }
        } catch {
            Failure(error).exit(format)
        }
    }
}
