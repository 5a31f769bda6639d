import Foundation
import WaystationFileSystem

/// What an updater keeps from run to run, in `updater.json` beside the modules: replaced as a whole by a rename.
struct UpdaterState: Codable, Equatable, Sendable {
    static let maximumSize = 1 << 20

    /// A random name of this installation, for gradual rollouts.
    var installID = UUID().uuidString
    var throttle = UpdateThrottle()
    var catalogue: CatalogueState?
    /// Set while offers are followed: a check that was interrupted need not wait for its turn.
    var isUnfinished: Bool?
}

extension PackLibrary {
    /// The updater's state; a new one where there is none or where it is damaged, which is told of.
    func readUpdaterState() async throws(PackError) -> UpdaterState {
        try await onQueue("reading \(layout.updater)") { [self] in
            guard let json = try environment.fileSystem.readFile(layout.updater, limit: UpdaterState.maximumSize),
                let state = try? ModuleRecord.decoder.decode(UpdaterState.self, from: json)
            else { return UpdaterState() }
            return state
        }
    }

    func write(_ state: UpdaterState) async throws(PackError) {
        try await onQueue("writing \(layout.updater)") { [self] in
            try environment.fileSystem.replaceFile(layout.updater, with: ModuleRecord.encoder.encode(state))
        }
    }
}
