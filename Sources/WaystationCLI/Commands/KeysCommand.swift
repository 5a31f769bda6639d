import ArgumentParser
import Foundation
import WaystationPacks
import WaystationPublishing

struct KeysCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "Makes keys that sign catalogues.",
        subcommands: [GenerateKeyCommand.self]
    )
}

struct GenerateKeyCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "generate",
        abstract: "Writes a new private key to a file, and prints its public key.",
        discussion: """
            Only its owner can read the file, which is never overwritten: anyone who has it can publish to every \
            client. With -o - the private key goes to standard output and the public one to standard error. The public \
            key goes into the app, as one of the keys that it trusts.

            Example:
              waystation keys generate -o release.key
            """
    )

    @Option(
        name: .shortAndLong,
        help: ArgumentHelp("The file for the private key; - is standard output.", valueName: "file")
    )
    var output: OutputDestination

    @OptionGroup
    var options: OutputOptions

    func run() throws {
        let key = try SigningKey.generate()
        try output.write { try KeyFile.write(key, to: $0) }
        try options.write(KeyResult(id: key.trusted.id, publicKey: key.trusted, path: output.path), about: output)
    }
}

/// A new key; the private half is only in its file.
struct KeyResult: CommandResult {
    let id: String
    let publicKey: TrustedKey
    let path: String

    var text: String { "\(publicKey)" }
}
