import ArgumentParser
import WaystationPacks
import WaystationPublishing

/// The options of all commands that change one module.
struct ModuleChangeOptions: ParsableArguments {
    @Argument(help: "The module.")
    var module: ModuleID

    @OptionGroup
    var release: ReleaseOptions

    @OptionGroup
    var options: OutputOptions

    /// Makes the change, and writes its result.
    func make(_ change: (ReleaseDirectory, ModuleID, [SigningKey]) async throws -> ReleaseIndex) async throws {
        let (directory, keys) = (try release.directory(), try release.keys)
        try await directory.requirePublished()
        let index = try await change(directory, module, keys)
        try options.write(ReleaseResult(module, index))
    }
}
