import Waystation
import WaystationFoundation
import WaystationOrigin

/// Loads that a class of URLProtocol takes.
extension TrapLoads {
    func loadInsideProtocol() async throws -> String? {
        let origin = try ScriptedOrigin { _ in .ok("arrived") }
        // The inner session is made here: the trap is a task that is made in `startLoading`, not a session.
        _ = LoadingProtocol.session
        let session = try session(through: LoadingProtocol.self)
        let (data, _) = try await session.data(from: origin.url())
        return data == Data("arrived".utf8) ? nil : "the load does not get its answer"
    }

    func markedRequest() async throws -> String? {
        let origin = try ScriptedOrigin { _ in .ok("arrived") }
        let session = try session(through: MarkingProtocol.self)
        let (data, _) = try await session.data(for: MarkingProtocol.marked(URLRequest(url: origin.url())))
        return data == Data("arrived".utf8) && origin.requestCount == 1
            ? nil : "a property of the request is lost, so a URLProtocol gets its own request again"
    }

    func redirectOfProtocol() async throws -> String? {
        let origin = try ScriptedOrigin { $0.path == "/from" ? .redirect(302, to: "/to") : .ok("arrived") }
        let (data, _) = try await session(through: RedirectingProtocol.self).data(from: origin.url("/from"))
        return data == Data("arrived".utf8) ? nil : "the redirect is not followed"
    }

    func partsOfBody() async throws -> String? {
        let origin = try ScriptedOrigin { _ in .stream([.bytes(Data("first".utf8)), .bytes(Data("second".utf8))]) }
        let session = try session(through: TwoPartProtocol.self)
        let data = await withCheckedContinuation { continuation in
            session.dataTask(with: origin.url()) { data, _, _ in continuation.resume(returning: data ?? Data()) }
                .resume()
        }
        let text = String(decoding: data, as: UTF8.self)
        return text == "firstsecond"
            ? nil : "a completion handler gets only the last part of a protocol's body, “\(text)”"
    }

    func downloadOfProtocol() async throws -> String? {
        let origin = try ScriptedOrigin { _ in .ok("firstsecond") }
        let session = try session(through: TwoPartProtocol.self)
        let data = await withCheckedContinuation { continuation in
            // The file exists only until the handler returns.
            session.downloadTask(with: origin.url()) { file, _, _ in
                continuation.resume(returning: file.flatMap { try? Data(contentsOf: $0) })
            }
            .resume()
        }
        return data == Data("firstsecond".utf8) ? nil : "a download that a URLProtocol answers gets no file"
    }

    func bodyOfUpload() async throws -> String? {
        let origin = try ScriptedOrigin { .ok($0.body) }
        var request = URLRequest(url: origin.url())
        request.httpMethod = "POST"
        let body = Data("body".utf8)
        let (data, _) = try await session(through: EchoProtocol.self).upload(for: request, from: body)
        return data == body ? nil : "a URLProtocol cannot see the body of an upload"
    }

    func refusedResponse() async throws -> String? {
        let origin = try ScriptedOrigin { _ in .status(404) }
        let folder = try TemporaryFolder(["page.txt": "firstsecond"])
        let delegate = LoadRecorder(disposition: .cancel)
        let session = try session(delegate: delegate) { configuration in
            configuration.rules = [.allow(Self.origins, via: .files(in: folder.url, at: origin.url().absoluteString))]
        } plain: { configuration in
            configuration.protocolClasses = [TwoPartProtocol.self]
        }
        session.dataTask(with: origin.url("/page.txt")).resume()
        let load = await delegate.load
        return load.error == .cancelled && load.body.isEmpty
            ? nil : "the delegate gets the body of a response that it refused"
    }

    func registeredClass() async throws -> String? {
        let origin = try ScriptedOrigin { _ in .status(404) }
        let folder = try TemporaryFolder(["page.txt": "firstsecond"])
        _ = URLProtocol.registerClass(TwoPartProtocol.self)
        let session = try session { configuration in
            configuration.rules = [.allow(Self.origins, via: .files(in: folder.url, at: origin.url().absoluteString))]
        }
        let (_, response) = try await session.data(from: origin.url("/page.txt"))
        return response.status == 200 ? nil : "the load goes past a registered class"
    }
}
