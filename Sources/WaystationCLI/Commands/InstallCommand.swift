import ArgumentParser
import Foundation
import WaystationArchive
import WaystationPacks

struct InstallCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "install",
        abstract: "Installs a pack in a library on this machine.",
        discussion: """
            The installed version becomes active at once; the previous one is kept for a roll-back. A zip or folder without a \
            manifest needs --module, --pack-version and --base-url.

            Example:
              waystation pack install shop-1.4.zip --in /var/lib/app/packs
            """
    )

    @Argument(help: "The pack: a zip or a folder.")
    var pack: String

    @Option(name: .customLong("in"), help: ArgumentHelp("The library; created if missing.", valueName: "dir"))
    var library: String

    @OptionGroup(title: "For packs without a manifest")
    var description: OptionalDescription

    @OptionGroup(title: "For zips beyond the usual limits")
    var zip: ZipLimitOptions

    @OptionGroup
    var options: OutputOptions

    func run() async throws {
        let packs = try PackLibrary(directory: URL(argument: library))
        try options.write(
            try await InstallResult(packs.install(URL(argument: pack), as: description.description, limits: zip.limits))
        )
    }
}

/// An installed version.
struct InstallResult: CommandResult {
    let module: ModuleID
    let version: PackVersion
    let root: String
    let manifest: String

    init(_ pack: InstalledPack) {
        module = pack.module
        version = pack.version
        root = pack.root.path(percentEncoded: false)
        manifest = pack.manifestSHA256
    }

    var text: String { "\(module) \(version) is installed and active: \(root)" }
}

extension PackLibrary {
    /// Installs a pack, which may be a folder or a zip.
    fileprivate func install(
        _ pack: URL,
        as description: PackDescription?,
        limits: ZipLimits
    ) async throws -> InstalledPack {
        let isFolder = try? pack.resourceValues(forKeys: [.isDirectoryKey]).isDirectory
        if isFolder == true { return try await install(folder: pack, as: description) }
        return try await install(zip: pack, as: description, limits: limits)
    }
}

/// The properties of a pack, for folders and zips without a manifest.
struct OptionalDescription: ParsableArguments {
    @Option(help: ArgumentHelp(ModuleID.help, valueName: "name"))
    var module: ModuleID?

    @Option(help: ArgumentHelp("The version of the pack, such as 1.4.2.", valueName: "version"))
    var packVersion: PackVersion?

    @Option(
        help: ArgumentHelp(
            "An http or https URL at which the pack's root is served. May be repeated.",
            valueName: "url"
        )
    )
    var baseURL: [WebAddress] = []

    var description: PackDescription? {
        guard let module, let packVersion else { return nil }
        return PackDescription(module: module, version: packVersion, baseURLs: baseURL.map(\.url.absoluteString))
    }

    func validate() throws {
        let given = [module != nil, packVersion != nil, !baseURL.isEmpty]
        guard given.allSatisfy(\.self) || !given.contains(true) else {
            throw ValidationError("Give --module, --pack-version and --base-url together, or none of them.")
        }
    }
}
