import Foundation
import Synchronization
import WaystationTesting

@testable import WaystationPacks

/// A server whose answers are counted, and a downloader with a directory of its own.
struct DownloadFixture {
    let directory: TemporaryDirectory
    let origin: ScriptedOrigin
    let downloader: ArtifactDownloader
    private let fetcher = URLSessionFetcher.shared

    /// `script` answers each request, which it is given with its number, from 0.
    init(
        maximumSize: Int = 1 << 24,
        script: @escaping @Sendable (ScriptedOrigin.Request, Int) -> ScriptedOrigin.Response
    ) throws {
        directory = try TemporaryDirectory()
        origin = try ScriptedOrigin { request in script(request, request.order) }
        downloader = ArtifactDownloader(directory: directory.url, maximumSize: maximumSize, fetcher: fetcher)
    }

    /// A downloader as a restarted process makes it.
    func restarted() -> ArtifactDownloader { ArtifactDownloader(directory: directory.url, fetcher: fetcher) }

    func artifact(_ bytes: Data, hasSize: Bool = true, hasDigest: Bool = true) -> Artifact {
        Artifact(
            url: origin.url("/pack.zip"),
            size: hasSize ? bytes.count : nil,
            digest: hasDigest ? PackDigest(of: bytes) : nil
        )
    }

    /// How many bytes of a part wait for a later attempt.
    func partSize(of artifact: Artifact) -> Int? {
        let path = ArtifactPaths(artifact, in: directory.url.path(percentEncoded: false).trimmingSlash).part
        return try? FileManager.default.attributesOfItem(atPath: path)[.size] as? Int
    }
}

extension String {
    fileprivate var trimmingSlash: String { hasSuffix("/") ? String(dropLast()) : self }
}
