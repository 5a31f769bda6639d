import Foundation
import WaystationFileSystem

/// Where a store keeps what.
///
/// ```
/// index.sqlite (-wal, -shm)     index and small bodies
/// index.sqlite.damaged-1        the last index that had to be replaced
/// recovery.lock                 held while an index is replaced
/// bodies/4f/4f0c9d8e5b7a4321…   large bodies, complete, named at random
/// staging/9be1…/                what one running process is writing; its file `lock` is locked while it runs
/// ```
struct StoreLayout: Sendable {
    let root: String

    var index: String { root + "/index.sqlite" }
    var recoveryLock: String { root + "/recovery.lock" }
    var bodies: String { root + "/bodies" }
    var staging: String { root + "/staging" }

    /// The path of a body file that the index names.
    ///
    /// - Returns: `nil` for any name that this store would not have given, which may point anywhere.
    func body(_ name: String) -> String? {
        let isOurs =
            name.utf8.count == 35 && name.dropFirst(2).first == "/"
            && name.dropFirst(3).hasPrefix(name.prefix(2))
            && (name.prefix(2) + name.dropFirst(3)).allSatisfy { $0.isASCII && $0.isHexDigit }
        return isOurs ? "\(bodies)/\(name)" : nil
    }

    static func randomBodyName() -> (shard: String, name: String) {
        let name = RandomName.make()
        return (String(name.prefix(2)), "\(name.prefix(2))/\(name)")
    }
}
