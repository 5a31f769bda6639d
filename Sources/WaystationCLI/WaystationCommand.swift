import ArgumentParser
import WaystationRecording

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
