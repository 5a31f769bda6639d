import CWaystation.Bzip2
import CWaystation.SQLite
import CWaystation.Zlib
import Foundation
import WaystationStorage

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Checks of the clock and the certificates.
enum MachineChecks {
    static func all() -> [Finding] { [clock(now: Date(), built: built), certificates()] }

    /// The time at which this program was written to the disk.
    private static var built: Date? {
        let attributes = try? FileManager.default.attributesOfItem(
            atPath: URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().path(percentEncoded: false)
        )
        return attributes?[.modificationDate] as? Date
    }

    /// Compares the clock with the time at which the program was built; a correct clock is never earlier.
    static func clock(now: Date, built: Date?) -> Finding {
        let time = now.formatted(.iso8601)
        guard let built, now < built.addingTimeInterval(-86_400) else { return .fine("clock", time) }
        return .failed(
            "clock",
            "\(time) is before this program was made, \(built.formatted(.iso8601))",
            "set the clock: stored responses, certificates and catalogues are judged by it"
        )
    }

    /// The bundles of certificates where systems have them.
    private static let bundles = [
        "/etc/ssl/certs/ca-certificates.crt", "/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem",
        "/etc/ssl/cert.pem",
    ]

    private static func certificates() -> Finding {
        let named = ProcessInfo.processInfo.environment["SSL_CERT_FILE"]
        let paths = named.map { [$0] } ?? bundles
        for path in paths {
            guard let data = try? Data(readingFile: URL(filePath: path), limit: 64 << 20) else { continue }
            let count = data.split(separator: UInt8(ascii: "\n")).count { $0.starts(with: "-----BEGIN CERT".utf8) }
            if count > 0 { return .fine("certificates", "\(count) authorities in \(path)") }
        }
        return .failed(
            "certificates",
            "no certificate authority in \(paths.joined(separator: ", "))",
            named == nil
                ? "install the package ca-certificates: no https server can be trusted without it"
                : "correct the variable SSL_CERT_FILE, or remove it"
        )
    }
}

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
