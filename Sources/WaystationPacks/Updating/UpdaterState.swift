import Foundation
import WaystationFileSystem

/// The state that an updater keeps between runs, in `updater.json` beside the modules; replaced as a whole by a rename.
///
/// `updater-copy.json` is a second copy from the last change of the catalogue: the number of the newest catalogue keeps
/// older ones from being accepted, and must not be lost with one file.
struct UpdaterState: Codable, Equatable, Sendable {
    static let maximumSize = 1 << 20

    /// A random identifier of this installation, for gradual rollouts.
    var installID = UUID().uuidString
    var throttle = UpdateThrottle()
    var catalogue: CatalogueState?
    /// Set while offers are followed: after an interruption, the next check need not wait for the interval.
    var isUnfinished: Bool?

    /// Whether another state of the updater has the same catalogue and the same installation ID, which must not be lost.
    fileprivate func remembersSame(as other: UpdaterState?) -> Bool {
        catalogue == other?.catalogue && installID == other?.installID
    }
}

/// The result of reading one of the two files.
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
    /// Reads the updater's state; from the copy if its file is damaged or missing, and a new state if the copy is too.
    ///
    /// Damage is reported as an event. Of the catalogues that the two files know, the newer one counts.
    func readUpdaterState() async throws(PackError) -> UpdaterState {
        let (file, copy) = try await blocking("reading \(layout.updater)") { [self] in
            (try readStateFile(layout.updater), try readStateFile(layout.updaterCopy))
        }
        if let damage = file.damage {
            let rest =
                copy.state == nil
                ? "the record of the last catalogue is lost: until a newer one is accepted, an older one "
                    + "that has not expired may lead back to earlier versions"
                : "the last catalogue is read from \(layout.updaterCopy)"
            tell(.damaged, nil, nil, "\(layout.updater) \(damage); \(rest)")
        }
        if let damage = copy.damage { tell(.damaged, nil, nil, "\(layout.updaterCopy) \(damage); it is written again") }
        if case .missing = file, copy.state != nil {
            tell(.damaged, nil, nil, "\(layout.updater) is missing; \(layout.updaterCopy) is used")
        }
        var state = file.state ?? copy.state ?? UpdaterState()
        if let newer = copy.state?.catalogue, newer.serial > state.catalogue?.serial ?? 0 { state.catalogue = newer }
        return state
    }

    /// Writes both files, the copy first; the copy only if the fields that must not be lost have changed.
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
            return .damaged("is larger than \(UpdaterState.maximumSize) bytes")
        }
    }
}
