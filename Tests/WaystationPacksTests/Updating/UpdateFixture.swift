import Foundation
import HTTPTypes
import Synchronization
import WaystationArchive
import WaystationStorage

@testable import WaystationPacks

/// A library, packs that were built for it, and a server in memory that offers them.
final class UpdateFixture: Sendable {
    let home: LibraryFixture
    let library: PackLibrary
    let server = ScriptedServer()

    init(_ fileSystem: any FileSystem = LocalFileSystem()) throws {
        home = try LibraryFixture()
        library = try home.library(fileSystem)
    }

    /// An updater of the library, or of a library that another start opened.
    func updater(
        of library: PackLibrary? = nil,
        adjust: (inout PackUpdater.Configuration) -> Void = { _ in }
    ) -> PackUpdater {
        var configuration = PackUpdater.Configuration()
        configuration.fetcher = server
        configuration.planner.reservedSpace = 0
        adjust(&configuration)
        let app = AppIdentity(code: "shop", version: PackVersion(literal: "5.0"))
        return PackUpdater(library: library ?? self.library, source: server, app: app, configuration: configuration)
    }

    static func files(_ version: StaticString) -> [String: String] {
        [
            "index.html": "<title>\(version)</title>",
            "js/app.js": String(repeating: "app ", count: 30_000) + "\(version)",
            "js/same.js": String(repeating: "same ", count: 30_000),
        ]
    }

    /// Builds a pack, and serves it at `/VERSION.zip`.
    @discardableResult
    func publish(
        _ version: StaticString,
        as description: PackDescription? = nil,
        files: [String: String]? = nil
    ) throws -> ModuleOffer {
        let zip = home.root.appending(path: "\(version)-\(UUID().uuidString).zip")
        try PackBuilder.build(
            folder: home.folder(files ?? Self.files(version)),
            as: description ?? .shop(version),
            to: zip
        )
        let contents = try PackContents(zip)
        var offer = ModuleOffer(.shop, version: PackVersion("\(version)"))
        offer.archive = try server.put(Data(contentsOf: zip), at: "\(version).zip")
        offer.manifest = contents.manifestDigest
        server.contents.withLock { $0["\(version)"] = contents }
        server.offers.withLock { $0 = [offer] }
        return offer
    }

    /// Adds a content patch between two published versions to the offer.
    func offerPatch(from old: StaticString, to new: StaticString, damaging: Bool = false) throws {
        let (base, result) = server.contents.withLock { ($0["\(old)"], $0["\(new)"]) }
        guard let base, let result else { return }
        var patch = try PackBuilder.contentPatch(from: base, to: result)
        if damaging { patch[patch.count - 1] ^= 0xFF }
        let artifact = try server.put(patch, at: "\(old)-\(new).patch")
        server.offers.withLock { offers in
            offers[0].patches = [
                PatchOffer(
                    .content,
                    from: base.manifest.version,
                    base: base.manifestDigest,
                    result: result.manifestDigest,
                    artifact: artifact
                )
            ]
        }
    }

    /// Adds a zip patch between two published versions to the offer.
    func offerZipPatch(from old: StaticString, to new: StaticString) throws {
        let (base, result) = (try server.file("\(old).zip"), try server.file("\(new).zip"))
        let patch = try BSDiffPatch.create(from: DataSource(base), to: DataSource(result))
        let artifact = try server.put(patch, at: "\(old)-\(new).zip.patch")
        server.offers.withLock { offers in
            offers[0].patches = [
                PatchOffer(
                    .zip,
                    from: PackVersion("\(old)"),
                    base: PackDigest(of: base),
                    result: PackDigest(of: result),
                    artifact: artifact
                )
            ]
        }
    }

    func title() throws -> String? { try home.text("https://shop.example/app/", in: library) }
}

/// A source with the offers that a test sets, and a network that has its files.
final class ScriptedServer: PackSource, PackFetching {
    let offers = Mutex<[ModuleOffer]>([])
    let contents = Mutex<[String: PackContents]>([:])
    let inquiries = Mutex<[UpdateInquiry]>([])
    let failure = Mutex<PackError?>(nil)
    /// Files of which only the first half arrives.
    let cut = Mutex<Set<String>>([])
    /// The answers that replace a file, by the file's name.
    let refusals = Mutex<[String: (status: Int, fields: HTTPFields)]>([:])
    /// The state of the last catalogue that the server reports.
    let catalogueState = Mutex<CatalogueState?>(nil)
    private let files = Mutex<[String: Data]>([:])
    private let asked = Mutex<[String]>([])
    private let answer = Mutex<(@Sendable (UpdateInquiry) -> [ModuleOffer])?>(nil)
    /// Delays each inquiry until it returns.
    let gate = Mutex<(@Sendable () async -> Void)?>(nil)
    /// Called with each fetch, before any bytes arrive.
    let duringFetch = Mutex<(@Sendable () -> Void)?>(nil)

    /// Makes the answers depend on the inquiry.
    func answering(_ answer: @escaping @Sendable (UpdateInquiry) -> [ModuleOffer]) {
        self.answer.withLock { $0 = answer }
    }

    func file(_ name: String) throws -> Data {
        guard let data = files.withLock({ $0["/\(name)"] }) else { throw URLError(.fileDoesNotExist) }
        return data
    }

    /// The names of the files that were fetched, in order.
    var fetched: [String] { asked.withLock { $0 } }

    func put(_ data: Data, at name: String) throws -> Artifact {
        files.withLock { $0["/\(name)"] = data }
        guard let url = URL(string: "https://packs.example/\(name)") else { throw URLError(.badURL) }
        return Artifact(url: url, size: data.count, digest: PackDigest(of: data))
    }

    func check(_ inquiry: UpdateInquiry) async throws -> UpdateAnswer {
        inquiries.withLock { $0.append(inquiry) }
        await gate.withLock { $0 }?()
        if let failure = failure.withLock({ $0 }) { throw failure }
        if let answer = answer.withLock({ $0 }) { return UpdateAnswer(offers: answer(inquiry)) }
        return UpdateAnswer(offers: offers.withLock { $0 }, catalogueState: catalogueState.withLock { $0 })
    }

    func fetch(_ request: FetchRequest) async throws -> FetchedResponse {
        asked.withLock { $0.append(request.url.lastPathComponent) }
        let refusal = refusals.withLock { $0[request.url.lastPathComponent] }
        let data = refusal == nil ? files.withLock { $0[request.url.path] } : nil
        duringFetch.withLock { $0 }?()
        let body = AsyncThrowingStream<Data, any Error> { stream in
            let isCut = cut.withLock { $0.contains(request.url.lastPathComponent) }
            let whole = data ?? Data()
            stream.yield(isCut ? whole.prefix(whole.count / 2) : whole)
            stream.finish(throwing: isCut ? PackError(.interrupted, "the connection was lost") : nil)
        }
        return FetchedResponse(
            status: refusal?.status ?? (data == nil ? 404 : 200),
            fields: refusal?.fields ?? [:],
            url: request.url,
            body: body
        )
    }
}
