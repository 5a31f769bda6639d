import WaystationFileSystem

/// The paths in a library's directory.
///
/// ```
/// lock                              locked while a change is made
/// modules/shop/module.json          the record of its versions, and of the active one
/// modules/shop/1.4.2-5f0c9d8e/      a version: manifest.json, files/…, and archive.zip where zip patches are used
/// staging/9be1…/                    the files that one process unpacks; its file `lock` is locked while it runs
/// downloads/                        files that are being fetched
/// updater.lock                      locked during a check for updates
/// updater.json                      the time of the last check, and the state of the source's catalogue
/// updater-copy.json                 a copy of it from the last change of the catalogue
/// ```
struct PackLayout: Sendable {
    let root: String

    init(root: String) { self.root = root.trimmingTrailingSlash }

    var lock: String { root + "/lock" }
    var modules: String { root + "/modules" }
    var staging: String { root + "/staging" }
    var downloads: String { root + "/downloads" }
    var updater: String { root + "/updater.json" }
    var updaterCopy: String { root + "/updater-copy.json" }
    var updaterLock: String { root + "/updater.lock" }

    /// Whether a name in a module's folder may be one that the library made: of a version, or of a new record that has
    /// not been renamed yet.
    static func mayBeOwn(_ name: String) -> Bool {
        if name.hasPrefix(ModuleRecord.fileName + ".") {
            return RandomName.isPossible(String(name.dropFirst(ModuleRecord.fileName.count + 1)))
        }
        let (mark, digits) = (name.dropLast(8).last, name.suffix(8))
        return mark == "-" && digits.utf8.count == 8 && digits.allSatisfy { $0.isASCII && $0.isHexDigit }
    }

    /// Whether a name at the root may be that of a new state of the updater that has not been renamed yet.
    static func mayBeUnfinishedState(_ name: String) -> Bool {
        ["updater.json.", "updater-copy.json."].contains { prefix in
            name.hasPrefix(prefix) && RandomName.isPossible(String(name.dropFirst(prefix.count)))
        }
    }

    func module(_ module: ModuleID) -> String { "\(modules)/\(module)" }
    func record(of module: ModuleID) -> String { "\(self.module(module))/\(ModuleRecord.fileName)" }
    func version(_ folder: String, of module: ModuleID) -> String { "\(self.module(module))/\(folder)" }
    func manifest(of module: ModuleID, _ folder: String) -> String { version(folder, of: module) + "/manifest.json" }
    func files(of module: ModuleID, _ folder: String) -> String { version(folder, of: module) + "/files" }
    func archive(of module: ModuleID, _ folder: String) -> String { version(folder, of: module) + "/archive.zip" }
}
