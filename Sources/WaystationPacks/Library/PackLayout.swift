import WaystationFileSystem

/// Where a library keeps what.
///
/// ```
/// lock                              locked while a change is made
/// modules/shop/module.json          which versions there are, and which one answers
/// modules/shop/1.4.2-5f0c9d8e/      a version: manifest.json, files/…, and archive.zip where zip patches are used
/// staging/9be1…/                    what one process is unpacking; its file `lock` is locked while it runs
/// downloads/                        what is being fetched
/// updater.lock                      locked during a check for updates
/// updater.json                      when the source was asked last, and what its catalogue was
/// updater-copy.json                 the same, as it was when the catalogue changed
/// ```
struct PackLayout: Sendable {
    let root: String

    init(root: String) {
        self.root = root.count > 1 && root.hasSuffix("/") ? String(root.dropLast()) : root
    }

    var lock: String { root + "/lock" }
    var modules: String { root + "/modules" }
    var staging: String { root + "/staging" }
    var downloads: String { root + "/downloads" }
    var updater: String { root + "/updater.json" }
    var updaterCopy: String { root + "/updater-copy.json" }
    var updaterLock: String { root + "/updater.lock" }

    /// Whether the library may have given a name below a module: to a version, or to a record on its way to its place.
    static func mayBeOwn(_ name: String) -> Bool {
        if name.hasPrefix(ModuleRecord.fileName + ".") {
            return RandomName.isPossible(String(name.dropFirst(ModuleRecord.fileName.count + 1)))
        }
        let (mark, digits) = (name.dropLast(8).last, name.suffix(8))
        return mark == "-" && digits.utf8.count == 8 && digits.allSatisfy { $0.isASCII && $0.isHexDigit }
    }

    func module(_ module: ModuleID) -> String { "\(modules)/\(module)" }
    func record(of module: ModuleID) -> String { "\(self.module(module))/\(ModuleRecord.fileName)" }
    func version(_ folder: String, of module: ModuleID) -> String { "\(self.module(module))/\(folder)" }
    func manifest(of module: ModuleID, _ folder: String) -> String { version(folder, of: module) + "/manifest.json" }
    func files(of module: ModuleID, _ folder: String) -> String { version(folder, of: module) + "/files" }
    func archive(of module: ModuleID, _ folder: String) -> String { version(folder, of: module) + "/archive.zip" }
}
