import Foundation
import WaystationFields
import WaystationFileSystem
public import WaystationPacks

extension ReleaseDirectory {
    /// Takes back the last step of a module, or goes back to a given version.
    ///
    /// Without a version, a current rollout ends and the live version stays; if there is no rollout, the previous live
    /// version becomes live again. Clients follow at their next poll, even those that have a higher version.
    ///
    /// - Parameters:
    ///   - module: The module.
    ///   - version: A published version lower than the live one; nil, the default, takes back the last step.
    ///   - keys: The keys that sign the catalogue.
    /// - Returns: The new index.
    /// - Throws: ``WaystationPacks/PackError``: `notInstalled` when the module or the version was never published,
    ///   `invalidArgument` when there is no version to go back to, or only one below the minimum version.
    @discardableResult
    public func rollBack(
        _ module: ModuleID,
        to version: PackVersion? = nil,
        signedBy keys: [SigningKey]
    ) async throws(PackError) -> ReleaseIndex {
        try await change(signedBy: keys) { index in _ = try index.rollBack(module, to: version) }
    }

    /// Switches a module off, so that its pages load online; its releases are kept.
    ///
    /// - Parameters:
    ///   - module: The module.
    ///   - keys: The keys that sign the catalogue.
    /// - Returns: The new index.
    /// - Throws: ``WaystationPacks/PackError`` with `notInstalled` when nothing was published for the module.
    @discardableResult
    public func disable(_ module: ModuleID, signedBy keys: [SigningKey]) async throws(PackError) -> ReleaseIndex {
        try await change(signedBy: keys) { try $0.setEnabled(false, module) }
    }

    /// Switches a module on again.
    ///
    /// - Parameters:
    ///   - module: The module.
    ///   - keys: The keys that sign the catalogue.
    /// - Returns: The new index.
    /// - Throws: ``WaystationPacks/PackError`` with `notInstalled` when nothing was published for the module.
    @discardableResult
    public func enable(_ module: ModuleID, signedBy keys: [SigningKey]) async throws(PackError) -> ReleaseIndex {
        try await change(signedBy: keys) { try $0.setEnabled(true, module) }
    }

    /// Sets the lowest version of a module that clients may still serve; clients with a lower version load online until
    /// they have the live one.
    ///
    /// - Parameters:
    ///   - version: The version, not above the live one; nil removes the minimum.
    ///   - module: The module.
    ///   - keys: The keys that sign the catalogue.
    /// - Returns: The new index.
    /// - Throws: ``WaystationPacks/PackError`` with `notInstalled` or `invalidArgument`.
    @discardableResult
    public func setMinimumVersion(
        _ version: PackVersion?,
        of module: ModuleID,
        signedBy keys: [SigningKey]
    ) async throws(PackError) -> ReleaseIndex {
        try await change(signedBy: keys) { try $0.setMinimumVersion(version, of: module) }
    }

    /// Sets the kind of network on which clients download a module's packs, from their next poll on.
    ///
    /// - Parameters:
    ///   - condition: The condition; `any` removes it. Other than `unmetered`, `wired`, `wireless` and `cellular`, it
    ///     may be one that a ``WaystationPacks/NetworkProbe`` of the app supports, with a name that begins with `x-`.
    ///     Clients without such a probe then download nothing.
    ///   - module: The module.
    ///   - keys: The keys that sign the catalogue.
    /// - Returns: The new index.
    /// - Throws: ``WaystationPacks/PackError``: `notInstalled` when nothing was published for the module,
    ///   `invalidArgument` for any other name.
    @discardableResult
    public func setNetwork(
        _ condition: NetworkCondition,
        of module: ModuleID,
        signedBy keys: [SigningKey]
    ) async throws(PackError) -> ReleaseIndex {
        try await change(signedBy: keys) { try $0.setNetwork(condition, of: module) }
    }

    /// Signs the catalogue again, without other changes.
    ///
    /// - Parameter keys: The keys that sign from now on. All of them sign, so that keys can be replaced while clients
    ///   trust the old or the new one.
    /// - Returns: The new index.
    /// - Throws: ``WaystationPacks/PackError`` when the disk fails.
    @discardableResult
    public func resign(signedBy keys: [SigningKey]) async throws(PackError) -> ReleaseIndex {
        try await change(signedBy: keys) { _ in }
    }

    /// Signs the catalogue again if it expires soon, is missing, was signed by other keys, or does not match the index,
    /// as after a kill.
    ///
    /// - Parameters:
    ///   - remaining: How long the catalogue must still be valid; half of the configured time by default.
    ///   - keys: The keys that sign the catalogue.
    /// - Returns: Whether it was signed again.
    /// - Throws: ``WaystationPacks/PackError`` when the disk fails.
    @discardableResult
    public func renew(within remaining: Duration? = nil, signedBy keys: [SigningKey]) async throws(PackError) -> Bool {
        let remaining = remaining ?? configuration.validity / 2
        let isCurrent = try await onQueue("reading \(layout.root)") {
            let index = try readIndex()
            guard let expires = index.expires, let catalogue = index.catalogue,
                expires.timeIntervalSince(environment.now()) > remaining.inSeconds,
                index.keys == keys.map(\.trusted.id),
                let file = try environment.fileSystem.readFile(layout.catalogue, limit: ReleaseIndex.maximumSize)
            else { return false }
            return PackDigest(of: file) == catalogue
        }
        if !isCurrent { try await resign(signedBy: keys) }
        return !isCurrent
    }

    /// Changes the index, and signs and writes the catalogue that results.
    func change(
        signedBy keys: [SigningKey],
        _ body: @escaping @Sendable (inout ReleaseIndex) throws -> Void
    ) async throws(PackError) -> ReleaseIndex {
        try Self.check(keys)
        return try await onQueue("changing \(layout.root)") {
            try environment.fileSystem.createPublicDirectory(layout.root)
            let lock = try environment.fileSystem.waitForLock(layout.lock)
            return try withExtendedLifetime(lock) {
                try removeHalfWritten()
                var index = try readIndex()
                try body(&index)
                try write(&index, signedBy: keys)
                return index
            }
        }
    }

    static func check(_ keys: [SigningKey]) throws(PackError) {
        guard !keys.isEmpty else {
            throw PackError(
                .invalidArgument,
                "a catalogue needs a key that signs it: make one with `waystation keys generate`"
            )
        }
    }

    /// Deletes the temporary files of a process that was killed while it replaced a file; no other process writes now.
    private func removeHalfWritten() throws {
        let fileSystem = environment.fileSystem
        for path in [layout.index, layout.catalogue] {
            let prefix = (path as NSString).lastPathComponent + "."
            for name in try fileSystem.contents(of: layout.root) where name.hasPrefix(prefix) {
                // Other files may lie beside these, such as `catalogue.json.gz`.
                let suffix = name.dropFirst(prefix.count)
                guard suffix.count == 32, suffix.allSatisfy(\.isHexDigit) else { continue }
                try fileSystem.removeFile("\(layout.root)/\(name)")
            }
        }
    }

    /// Writes the index before the catalogue: otherwise a serial number that clients have seen could be used again.
    private func write(_ index: inout ReleaseIndex, signedBy keys: [SigningKey]) throws {
        let (serial, overflow) = index.serial.addingReportingOverflow(1)
        guard !overflow else { throw PackError(.damaged, "the serial number in \(layout.index) cannot grow any more") }
        // Rounded to whole seconds, as they are written.
        let issued = Date(timeIntervalSince1970: environment.now().timeIntervalSince1970.rounded(.down))
        let expires = issued.addingTimeInterval(configuration.validity.inSeconds)
        index.serial = serial
        index.issued = issued
        index.expires = expires
        index.keys = keys.map(\.trusted.id)
        let catalogue = try index.catalogue(issued: issued, expires: expires).signed(by: keys)
        index.catalogue = PackDigest(of: catalogue)
        try environment.fileSystem.replaceFile(layout.index, with: try index.json())
        try environment.fileSystem.replacePublicFile(layout.catalogue, with: catalogue)
    }
}
