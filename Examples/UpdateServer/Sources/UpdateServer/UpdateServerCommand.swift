import ArgumentParser
import Foundation
import Hummingbird
import Logging
import ServiceLifecycle
import WaystationPacks
import WaystationPublishing

/// The release platform as a process.
struct UpdateServerCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Serves a release directory to clients, and lets people publish into it.",
        discussion: """
            Clients may fetch the signed catalogue or speak one of the two older formats; see README.md. People open \
            the address in a browser. Reading is free; changes need the token as `Authorization: Bearer TOKEN`.

            The token is read from --token-file, or from the environment variable UPDATE_SERVER_TOKEN. Ctrl-C or \
            SIGTERM ends the server when the requests under way are answered.

            Over a bucket of an S3-compatible store, the server keeps nothing itself, so several may run behind one \
            balancer. The bucket's credentials, region and store are those of AWS_ACCESS_KEY_ID, \
            AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN, AWS_REGION and AWS_ENDPOINT_URL_S3.

            Example:
              waystation keys generate -o release.key
              UPDATE_SERVER_TOKEN=$(openssl rand -hex 24) update-server --releases /srv/packs --key release.key
            """
    )

    @Option(
        help: ArgumentHelp(
            "The release directory, created if missing; or a bucket with a prefix, s3://bucket/prefix.",
            valueName: "dir"
        )
    )
    var releases: String

    @Option(
        help: ArgumentHelp("A file with the private key that signs the catalogue. May be repeated.", valueName: "file")
    )
    var key: [String]

    @Option(help: ArgumentHelp("A file with the token that allows changes.", valueName: "file"))
    var tokenFile: String?

    @Option(help: ArgumentHelp("The address to listen at.", valueName: "host"))
    var host = "127.0.0.1"

    @Option(help: ArgumentHelp("The port to listen at; 0 takes any free port.", valueName: "port"))
    var port = 8080

    @Option(
        help: ArgumentHelp(
            "The URL under which clients reach the server behind a proxy. Default: the host that they requested.",
            valueName: "url"
        )
    )
    var publicURL: String?

    @Option(help: ArgumentHelp("The largest pack that may be published, in MiB.", valueName: "size"))
    var maximumUpload = 512

    @Option(help: ArgumentHelp("The validity of the catalogue, in days.", valueName: "days"))
    var validity = 7

    func validate() throws {
        guard !key.isEmpty else { throw ValidationError("Missing expected argument '--key <file>'.") }
        guard (0...65_535).contains(port) else { throw ValidationError("--port takes 0 to 65535.") }
        guard (1...1 << 20).contains(maximumUpload) else {
            throw ValidationError("--maximum-upload takes 1 to 1048576.")
        }
        guard (1...3650).contains(validity) else { throw ValidationError("--validity takes 1 to 3650 days.") }
    }

    func run() async throws {
        var settings = ServerSettings(
            releases: try releaseDirectory(),
            keys: try key.map { try KeyFile.read(URL(filePath: $0)) },
            token: try token()
        )
        settings.maximumUpload = maximumUpload << 20
        settings.publicURL = try publicURL.map { text in
            guard let url = URL(string: text), url.scheme != nil, url.host != nil else {
                throw ValidationError("--public-url takes an absolute URL, such as https://packs.example/.")
            }
            return url
        }
        var logger = Logger(label: "update-server")
        logger.logLevel = .info
        let application = try await UpdateServer(settings, logger: logger).application(
            address: .hostname(host, port: port)
        ) { port in
            let host = host.contains(":") ? "[\(host)]" : host
            // Written without buffering, even into a file or a pipe: other programs wait for this line.
            try? FileHandle.standardOutput.write(contentsOf: Data("listening at http://\(host):\(port)/\n".utf8))
        }
        try await application.runService()
    }

    private func releaseDirectory() throws -> ReleaseDirectory {
        let configuration = ReleaseDirectory.Configuration(validity: .seconds(validity * 86_400))
        guard S3Location.isAddress(releases) else {
            return ReleaseDirectory(URL(filePath: releases), configuration: configuration)
        }
        let bucket = try S3Bucket(releases, .init(environment: ProcessInfo.processInfo.environment))
        return ReleaseDirectory(in: bucket, configuration: configuration)
    }

    /// The text of a small file.
    private static func text(of file: URL) throws -> String {
        let limit = 4096
        let bytes = try FileHandle(forReadingFrom: file).read(upToCount: limit + 1) ?? Data()
        guard bytes.count <= limit else {
            throw ValidationError(
                "\(file.path(percentEncoded: false)) has more than \(limit) bytes: give a file with a token."
            )
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private func token() throws -> AdminToken {
        let text =
            try tokenFile.map { try Self.text(of: URL(filePath: $0)) }
            ?? ProcessInfo.processInfo.environment["UPDATE_SERVER_TOKEN"]
        guard let token = AdminToken(text ?? "") else {
            throw ValidationError(
                "Give a token of at least \(AdminToken.minimumLength) characters, by --token-file or UPDATE_SERVER_TOKEN."
            )
        }
        return token
    }
}
