import Foundation
import WaystationFileSystem

/// What an updater keeps from run to run, in `updater.json` beside the modules: replaced as a whole by a rename.
///
/// `updater-copy.json` holds it a second time, as it was when the catalogue last changed: the number of the newest
/// catalogue is what keeps older ones out, and must not be lost with one file.
struct UpdaterState: Codable, Equatable, Sendable {
    static let maximumSize = 1 << 20

    /// A random name of this installation, for gradual rollouts.
    var installID = UUID().uuidString
    var throttle = UpdateThrottle()
    var catalogue: CatalogueState?
    /// Set while offers are followed: a check that was interrupted need not wait for its turn.
    var isUnfinished: Bool?

    /// Whether the other one holds the same of what must not be lost.
    fileprivate func remembersSame(as other: UpdaterState?) -> Bool {
        catalogue == other?.catalogue && installID == other?.installID
    }
}

/// One of the two files.
private enum StateFile {
    case missing
    case damaged(String)
    case sound(UpdaterState)

    var state: UpdaterState? {
        if case .sound(let state) = self { state } else { nil }
    }

    var damage: String? {
        if case .damaged(let reason) = self { reason } else { nil }
    }
}

extension PackLibrary {
    /// The updater's state; where its file is damaged or gone that of the copy, and a new one where that is too.
    ///
    /// What was damaged is told of. The newest catalogue that either file knows is the one that counts.
    func readUpdaterState() async throws(PackError) -> UpdaterState {
        let (file, copy) = try await blocking("reading \(layout.updater)") { [self] in
            (try readStateFile(layout.updater), try readStateFile(layout.updaterCopy))
        }
        if let damage = file.damage {
            let rest =
                copy.state == nil
                ? "what is known of the last catalogue is lost: until a newer one is accepted, one that has not expired may "
                    + "lead back to earlier versions"
                : "the last catalogue is known from \(layout.updaterCopy)"
            tell(.damaged, nil, nil, "\(layout.updater) \(damage); \(rest)")
        }
        if let damage = copy.damage { tell(.damaged, nil, nil, "\(layout.updaterCopy) \(damage); it is written anew") }
        if case .missing = file, copy.state != nil {
            tell(.damaged, nil, nil, "\(layout.updater) is gone; \(layout.updaterCopy) is used")
        }
        var state = file.state ?? copy.state ?? UpdaterState()
        if let newer = copy.state?.catalogue, newer.serial > state.catalogue?.serial ?? 0 { state.catalogue = newer }
        return state
    }

    /// Writes both files; the copy first, and only when what must not be lost has changed.
    func write(_ state: UpdaterState) async throws(PackError) {
        try await blocking("writing \(layout.updater)") { [self] in
            let json = try ModuleRecord.encoder.encode(state)
            if try !state.remembersSame(as: readStateFile(layout.updaterCopy).state) {
                try environment.fileSystem.replaceFile(layout.updaterCopy, with: json)
            }
            try environment.fileSystem.replaceFile(layout.updater, with: json)
        }
    }

    private func readStateFile(_ path: String) throws -> StateFile {
        do {
            guard let json = try environment.fileSystem.readFile(path, limit: UpdaterState.maximumSize) else {
                return .missing
            }
            return .sound(try ModuleRecord.decoder.decode(UpdaterState.self, from: json))
        } catch let error as DecodingError {
            return .damaged("cannot be read: \(error)")
        } catch let error as FileError where error.code == EOVERFLOW {
            return .damaged("is larger than it can be")
        }
    }
}
