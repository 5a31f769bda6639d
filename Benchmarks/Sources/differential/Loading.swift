import Foundation
import FoundationNetworking
import Measuring

/// The ways in which an app can wait for a load.
enum Way: String, CaseIterable, Sendable {
    case completion, async, delegate
    case taskDelegate = "task-delegate"
}

/// The kinds of task.
enum Kind: String, CaseIterable, Sendable {
    case data, download
    case uploadData = "upload-data"
    case uploadFile = "upload-file"
    case uploadStream = "upload-stream"
}

extension Stage {
    static let uploaded = Data("the body of an upload".utf8)

    /// Starts a load, and records how it ends.
    func load(
        _ kind: Kind = .data,
        _ way: Way = .completion,
        _ request: URLRequest,
        observer: Observer? = nil,
        configure: (URLSessionConfiguration) -> Void = { _ in }
    ) async throws {
        let observer = observer ?? Observer(sightings, body: Self.uploaded)
        switch way {
        case .completion:
            task(kind, request, in: session(nil, configure), completing: true).resume()
        case .async:
            await load(kind, request, in: session(nil, configure), delegate: nil)
        case .delegate:
            task(kind, request, in: session(observer, configure), completing: false).resume()
        case .taskDelegate:
            await load(kind, request, in: session(nil, configure), delegate: observer)
        }
    }

    /// Starts a load of a URL that need not be the origin's.
    func load(
        _ kind: Kind,
        _ way: Way,
        from url: String,
        observer: Observer? = nil,
        change: (inout URLRequest) -> Void = { _ in }
    ) async throws {
        guard let url = URL(string: url) else { return }
        var request = URLRequest(url: url)
        change(&request)
        try await load(kind, way, request, observer: observer)
    }

    /// Makes a task of a kind, without resuming it.
    func task(_ kind: Kind, _ request: URLRequest, in session: URLSession, completing: Bool) -> URLSessionTask {
        switch (kind, completing) {
        case (.data, true): session.dataTask(with: request, completionHandler: completed)
        case (.data, false): session.dataTask(with: request)
        case (.download, true): session.downloadTask(with: request, completionHandler: downloaded)
        case (.download, false): session.downloadTask(with: request)
        case (.uploadData, true): session.uploadTask(with: request, from: Self.uploaded, completionHandler: completed)
        case (.uploadData, false): session.uploadTask(with: request, from: Self.uploaded)
        case (.uploadFile, true): session.uploadTask(with: request, fromFile: file, completionHandler: completed)
        case (.uploadFile, false): session.uploadTask(with: request, fromFile: file)
        case (.uploadStream, _): session.uploadTask(withStreamedRequest: request)
        }
    }

    private func load(_ kind: Kind, _ request: URLRequest, in session: URLSession, delegate: Observer?) async {
        do {
            switch kind {
            case .data:
                let (data, response) = try await session.data(for: request, delegate: delegate)
                completed(data, response, nil)
            case .uploadData:
                let (data, response) = try await session.upload(for: request, from: Self.uploaded, delegate: delegate)
                completed(data, response, nil)
            case .uploadFile:
                let (data, response) = try await session.upload(for: request, fromFile: file, delegate: delegate)
                completed(data, response, nil)
            case .download:
                let (url, response) = try await session.download(for: request, delegate: delegate)
                downloaded(url, response, nil)
            case .uploadStream:
                // This kind of task has no async form.
                let task = session.uploadTask(withStreamedRequest: request)
                task.delegate = delegate
                task.resume()
            }
        } catch {
            completed(nil, nil, error)
        }
    }

    /// A completion handler that records its arguments, and the end of the load.
    @Sendable func completed(_ data: Data?, _ response: URLResponse?, _ error: (any Error)?) {
        sightings.note("bytes", data.map { "\(Fingerprint($0))" } ?? "none")
        sightings.note(response)
        sightings.note(error)
        sightings.end()
    }

    @Sendable private func downloaded(_ url: URL?, _ response: URLResponse?, _ error: (any Error)?) {
        let body = url.flatMap { try? Data(contentsOf: $0) }
        sightings.note("file", body.map { "\(Fingerprint($0))" } ?? "none")
        sightings.note(response)
        sightings.note(error)
        sightings.end()
    }

    /// A file with the body of an upload.
    private var file: URL {
        let file = directory.appendingPathComponent("upload")
        _ = FileManager.default.createFile(atPath: file.path, contents: Self.uploaded)
        return file
    }
}
