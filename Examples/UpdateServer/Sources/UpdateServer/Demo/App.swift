import Foundation
import FoundationNetworking
import Waystation
import WaystationPacks

extension PacksDemo {
    /// An app that loads pages through a plain `URLSession`, and keeps its packs up to date.
    struct App: Sendable {
        private let packs: PackLibrary
        private let updater: PackUpdater
        private let session: URLSession

        init(library: URL, server: URL, format: Format, key: SigningKey) throws {
            let packs = try PackLibrary(directory: library)
            let interceptor = try Interceptor {
                // The only source is packs: loads of other URLs fail, even if there is a network.
                $0.rules = [.allow("https://lab.example/**", via: .pack(orElse: .nowhere))]
                $0.packs = packs
            }
            session = URLSession(configuration: .default.intercepted(by: interceptor))
            self.packs = packs
            guard let version = PackVersion("1.0"), let module = ModuleID("jupyterlab") else {
                throw Unexpected(description: "the app has no version")
            }
            let source: any PackSource =
                switch format {
                case .catalogue: .catalogue(at: server.appending(path: "catalogue.json"), trusting: [key.trusted])
                case .modules: .modules(at: server.appending(path: "modules"))
                case .package: .singlePack(at: server.appending(path: "package"), module: module)
                }
            var configuration = PackUpdater.Configuration()
            configuration.modules = [module]
            updater = PackUpdater(
                library: packs,
                source: source,
                app: AppIdentity(code: "lab", version: version),
                configuration: configuration
            )
        }

        /// Checks for updates now.
        func update(expecting version: PackVersion? = nil) async throws -> ModuleOutcome {
            let report = try await updater.check(isForced: true)
            guard let outcome = report.outcomes.first, report.outcomes.count == 1 else {
                throw Unexpected(description: "the check should have one outcome: \(report)")
            }
            if case .failed(let error) = outcome.kind { throw error }
            if let version, outcome.to != version { throw Unexpected(description: "\(outcome), not \(version)") }
            return outcome
        }

        func expectPage(of folder: URL) async throws {
            let expected = try Data(contentsOf: folder.appending(path: "index.html"))
            let found = try await load("index.html")
            guard found == expected else { throw Unexpected(description: "index.html differs from \(folder.path)") }
        }

        func expectNothing() async throws {
            if (try? await load("index.html")) != nil {
                throw Unexpected(description: "a module that is switched off answered")
            }
        }

        /// Loads every file and compares it with the one in a folder.
        func compare(with folder: URL, into result: inout Result) async throws {
            for path in try FileManager.default.subpathsOfDirectory(atPath: folder.path).sorted() {
                let file = folder.appending(path: path)
                guard try file.resourceValues(forKeys: [.isRegularFileKey]).isRegularFile == true else { continue }
                result.files += 1
                guard let found = try? await load(path) else {
                    result.missing.append(path)
                    continue
                }
                if try found != Data(contentsOf: file) { result.differing.append(path) }
            }
        }

        private func load(_ path: String) async throws -> Data {
            guard let url = URL(string: PacksDemo.base)?.appending(path: path) else { throw URLError(.badURL) }
            let (data, response) = try await session.data(from: url)
            guard (response as? HTTPURLResponse)?.statusCode == 200 else { throw URLError(.badServerResponse) }
            return data
        }
    }
}
