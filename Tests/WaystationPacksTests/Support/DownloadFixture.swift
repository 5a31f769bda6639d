import Foundation
import Synchronization
import WaystationTestSupport
import WaystationTesting

@testable import WaystationPacks

/// A server that counts its answers, and a downloader with a directory of its own.
struct DownloadFixture {
    let directory: TemporaryDirectory
    let origin: ScriptedOrigin
    let downloader: ArtifactDownloader
    private let fetcher = URLSessionFetcher.shared

    /// Makes a server that answers by `script`, which gets each request and its number, from 0.
    init(
        maximumSize: Int = 1 << 24,
        script: @escaping @Sendable (ScriptedOrigin.Request, Int) -> ScriptedOrigin.Response
    ) throws {
        directory = try TemporaryDirectory()
        origin = try ScriptedOrigin { request in script(request, request.order) }
        downloader = ArtifactDownloader(directory: directory.url, maximumSize: maximumSize, fetcher: fetcher)
    }

    /// A new downloader on the same directory, as after a restart of the process.
    func restarted() -> ArtifactDownloader { ArtifactDownloader(directory: directory.url, fetcher: fetcher) }

    func artifact(_ bytes: Data, hasSize: Bool = true, hasDigest: Bool = true) -> Artifact {
        Artifact(
            url: origin.url("/pack.zip"),
            size: hasSize ? bytes.count : nil,
            digest: hasDigest ? PackDigest(of: bytes) : nil
        )
    }

    /// The number of bytes that are kept for a later attempt.
    func partSize(of artifact: Artifact) -> Int? {
        let path = ArtifactPaths(artifact, in: directory.url.path(percentEncoded: false).trimmingSlash).files.part
        return try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
    }
}

extension String {
    fileprivate var trimmingSlash: String { hasSuffix("/") ? String(dropLast()) : self }
}
