import CBzip2
import CWaystationSQLite
import CZlib

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Checks of the libraries that Waystation uses.
enum LibraryChecks {
    /// The first version of SQLite with the defensive mode, in which the cache opens its index.
    private static let oldestSQLite: Int32 = 3_026_000

    static func all() -> [Finding] {
        [
            sqlite(version: sqlite3_libversion_number(), name: String(cString: sqlite3_libversion())),
            .fine("zlib", String(cString: zlibVersion())),
            .fine("bzip2", String(cString: BZ2_bzlibVersion())),
            coding("brotli", "libbrotlidec.so.1", package: "libbrotli1"),
            coding("zstd", "libzstd.so.1", package: "libzstd1"),
        ]
    }

    static func sqlite(version: Int32, name: String) -> Finding {
        guard version < oldestSQLite else { return .fine("sqlite", name) }
        return .failed("sqlite", "\(name) is older than 3.26", "install a newer libsqlite3: the cache's index needs it")
    }

    /// The engine on SwiftNIO loads these libraries when the program starts, if they are installed.
    private static func coding(_ name: String, _ file: String, package: String) -> Finding {
        guard let library = dlopen(file, RTLD_NOW) else {
            return .warning(
                name,
                "\(file) is not installed",
                "install \(package), so that the engine on SwiftNIO accepts bodies in this coding"
            )
        }
        dlclose(library)
        return .fine(name, file)
    }
}
