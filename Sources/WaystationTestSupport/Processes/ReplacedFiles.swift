import Foundation

/// A program that sees other files in the place of some files of the system, such as the trusted authorities.
///
/// It mounts them in a namespace of its own, so no other process sees them.
public struct ReplacedFiles: Sendable {
    /// The file with the certificates of the authorities that the system trusts.
    public static let trustedAuthorities = "/etc/ssl/certs/ca-certificates.crt"

    /// The path of the program that is started.
    public let executable: String
    /// Its arguments.
    public let arguments: [String]

    /// Makes the command that starts a program.
    ///
    /// - Parameters:
    ///   - files: Files of the system, each with the file that the program sees in its place.
    ///   - program: The path of the program.
    ///   - arguments: The arguments of the program.
    public init(_ files: [String: String], for program: String, _ arguments: [String]) {
        guard !files.isEmpty else {
            (executable, self.arguments) = (program, arguments)
            return
        }
        executable = "/usr/bin/unshare"
        self.arguments =
            (getuid() == 0 ? [] : ["-r"]) + [
                "-m", "/bin/sh", "-c",
                #"while [ "$1" != -- ]; do mount --bind "$1" "$2" || exit; shift 2; done; shift; exec "$@""#, "sh",
            ] + files.flatMap { [$1, $0] } + ["--", program] + arguments
    }
}
