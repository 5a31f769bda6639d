import Foundation
import WaystationPacks

/// Reads a manifest.
///
/// A manifest that is accepted must be safe to use, and must stay the same when it is written and read again.
struct ManifestTarget: FuzzTarget {
    let maximumLength = 2 << 10

    func seeds() throws -> [Data] {
        let digest = String(repeating: "0a", count: 32)
        return [
            """
            {"formatVersion":1,"module":"shop","version":"1.4.2","baseURLs":["https://shop.example/app/"],"files":[]}
            """,
            """
            {"baseURLs":["https://shop.example/app/","http://[::1]:8080/"],"files":[
            {"path":"a/caf\u{E9}.js","sha256":"\(digest)","size":0,"mediaType":"text/javascript"},
            {"path":"index.html","sha256":"\(digest)","size":5120}],"formatVersion":1,"minimumAppVersion":"2",
            "minimumPackVersion":"1.0","module":"shop","released":"2026-03-01T12:00:00Z","version":"1.4.2"}
            """,
        ].map { Data($0.utf8) }
    }

    func run(_ input: Data) throws {
        do {
            let manifest = try PackManifest(json: input)
            for file in manifest.files {
                let names = file.path.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
                try Finding.unless(
                    names.allSatisfy { !$0.isEmpty && !$0.elementsEqual(".".utf8) && !$0.elementsEqual("..".utf8) }
                        && !file.path.utf8.contains(0) && file.size >= 0 && file.sha256.utf8.count == 64,
                    "the file '\(file.path)' was accepted"
                )
            }
            try Finding.unless(manifest.contentSize >= 0, "the total size is negative")
            try Finding.unless(
                try PackManifest(json: manifest.json()) == manifest,
                "the manifest is different when it is read again"
            )
        } catch is PackError {}
    }
}
