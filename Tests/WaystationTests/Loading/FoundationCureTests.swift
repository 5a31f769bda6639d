import Foundation
import FoundationNetworking
import Testing
import WaystationTesting

@_spi(Measuring) @testable import Waystation

/// `applied()` fails when a toolchain renames, moves or retypes a property that a cure touches.
@Suite("The cures that reach into Foundation")
struct FoundationCureTests {
    @Test("know the layout of this toolchain, and stay out only where it does not have the trap")
    func applied() {
        for cure in FoundationCure.all {
            let isGone = cure.trap == "L28" && ToolchainVersion.current >= ToolchainVersion(6, 4)
            #expect(cure.state == (isGone ? .notNeeded : .applied), "\(cure.trap): \(cure.effect)")
        }
    }

    @Test("are those of the table in the document, each with its trap")
    func document() throws {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let text = try String(contentsOf: root.appending(path: "Docs/FoundationTraps.md"), encoding: .utf8)
        let chapters = text.split(separator: "\n## ")
        let chapter = try #require(chapters.first { $0.hasPrefix("Cures that reach into Foundation\n") })
        let rows = chapter.matches(of: #/\n\| ([^|]+) \| (L\d+|pace) \|/#).map { "\($0.2) \($0.1)" }
        #expect(rows == (FoundationCure.all + [.reachedSessions]).map { "\($0.trap) \($0.effect)" })
    }

    /// Each cure with a property under another name, and with one of another type.
    private static let unknown: [(cure: FoundationCure, missing: String)] = [
        (InlineCompletion(property: "_inline").cure, "URLSessionTask._inline: Bool"),
        (InlineCompletion(property: "suspendCount").cure, "URLSessionTask.suspendCount: Bool"),
        (EndedTask(property: "_suspendCount").cure, "URLSessionTask._suspendCount: Int"),
        (EndedTask(property: "hasTriggeredResume").cure, "URLSessionTask.hasTriggeredResume: Int"),
        (
            DownloadedFile(property: "_properties").cure,
            "URLProtocol._properties: [_PropertyKey: Any], with the key temporaryFileURL"
        ),
        (
            DownloadedFile(property: "_task").cure,
            "URLProtocol._task: [_PropertyKey: Any], with the key temporaryFileURL"
        ),
        (RequestTimeout(request: "_request").cure, "URLSessionTask._request: Optional<URLRequest>"),
        (RequestTimeout(request: "suspendCount").cure, "URLSessionTask.suspendCount: Optional<URLRequest>"),
        (RequestTimeout(flag: "isSet").limitCure, "URLRequest.isSet: Bool"),
        (RequestTimeout(flag: "_handle").limitCure, "URLRequest._handle: Bool"),
        (
            KnownResponses(KnownResponses.Layout(fields: "fields")).cure,
            "the fields, the media type or the length of HTTPURLResponse"
        ),
        (
            KnownResponses(KnownResponses.Layout(fields: "statusCode")).cure,
            "the fields, the media type or the length of HTTPURLResponse"
        ),
        (FoundationInternals.taskQueueCure("queue"), "URLSessionTask.queue: DispatchQueue"),
        (FoundationInternals.taskQueueCure("suspendCount"), "URLSessionTask.suspendCount: DispatchQueue"),
        (
            FoundationInternals.taskSessionCure("_session"),
            "URLSessionTask._session: Swift.Optional<FoundationNetworking.URLSessionProtocol>"
        ),
        (
            FoundationInternals.taskSessionCure("workQueue"),
            "URLSessionTask.workQueue: Swift.Optional<FoundationNetworking.URLSessionProtocol>"
        ),
        (
            FoundationInternals.uploadBodyCure("body"),
            "URLSessionTask.body: Swift.Optional<FoundationNetworking.URLSessionTask._Body>"
        ),
        (
            FoundationInternals.uploadBodyCure("error"),
            "URLSessionTask.error: Swift.Optional<FoundationNetworking.URLSessionTask._Body>"
        ),
        (FoundationInternals.recipientsCure(queue: "queue"), "URLSession.queue: DispatchQueue"),
        (
            FoundationInternals.recipientsCure(registry: "registry"),
            "?.behaviours: Swift.Dictionary<Swift.Int, FoundationNetworking.URLSession._TaskRegistry._Behaviour>"
        ),
        (
            FoundationInternals.recipientsCure(behaviours: "tasks"),
            "_TaskRegistry.tasks: Swift.Dictionary<Swift.Int, FoundationNetworking.URLSession._TaskRegistry._Behaviour>"
        ),
        (FoundationInternals.transfersCure("handle"), "?.queue: Dispatch.DispatchQueue"),
        (FoundationInternals.transfersCure(queue: "group"), "_MultiHandle.group: Dispatch.DispatchQueue"),
    ]

    @Test("stay out where a property has another name or another type, and name it", arguments: unknown)
    func unknownLayout(cure: FoundationCure, missing: String) {
        #expect(cure.state == .unknownLayout(missing: missing))
        #expect(!cure.isApplied)
    }

    /// The flag of a task that makes Foundation end it inline, read and written without a cure.
    private struct Flag {
        let task = URLSessionTask()
        let offset: Int

        init() throws {
            let property = "_callCompletionHandlerInline"
            offset = try #require(FoundationInternals.offset(of: property, as: Bool.self, in: URLSessionTask.self))
            Unmanaged.passUnretained(task).toOpaque().storeBytes(of: 1, toByteOffset: offset, as: UInt8.self)
        }

        var isOn: Bool { Unmanaged.passUnretained(task).toOpaque().load(fromByteOffset: offset, as: UInt8.self) != 0 }
    }

    @Test("touch no flag of an async load where it is retyped, renamed or harmless")
    func inlineCompletion() throws {
        let flag = try Flag()
        for other in [
            InlineCompletion(property: "suspendCount"), InlineCompletion(property: "_inline"),
            InlineCompletion(isNeeded: false),
        ] {
            other.switchOff(for: flag.task)
            #expect(flag.isOn)
            #expect(other.isOn(for: flag.task) == nil)
        }
        #expect(InlineCompletion(isNeeded: false).cure.state == .notNeeded)
        InlineCompletion(isNeeded: true).switchOff(for: flag.task)
        #expect(!flag.isOn)
    }

    @Test("touch no count of a task that has ended where it is retyped, renamed or harmless")
    func endedTask() {
        let task = URLSessionTask()
        for other in [
            EndedTask(property: "hasTriggeredResume"), EndedTask(property: "count"), EndedTask(isNeeded: false),
        ] {
            other.keepFromResuming(task)
            #expect(other.suspensions(of: task) == nil)
            #expect(EndedTask.current.suspensions(of: task) == 1)
        }
        #expect(EndedTask(isNeeded: false).cure.state == .notNeeded)
        EndedTask.current.keepFromResuming(task)
        #expect(EndedTask.current.suspensions(of: task) == EndedTask.suspensions)
    }

    @Test("mark no interval where the initializer does, but still unmark one that is too long")
    func requestTimeout() throws {
        let url = try #require(URL(string: "http://timeout.test/"))
        let session = URLSession(configuration: .ephemeral)
        let gone = RequestTimeout(isNeeded: false)
        #expect(gone.cure.state == .notNeeded)
        #expect(gone.limitCure.state == .applied)
        let ignored = session.dataTask(with: URLRequest(url: url, timeoutInterval: 7))
        for other in [gone, RequestTimeout(request: "_request"), RequestTimeout(flag: "_handle")] {
            other.obey(for: ignored)
            #expect(RequestTimeout.current.isObeyed(for: ignored) == false)
        }
        var endless = URLRequest(url: url)
        endless.timeoutInterval = .infinity
        let counted = session.dataTask(with: endless)
        #expect(gone.isObeyed(for: counted) == true)
        gone.obey(for: counted)
        #expect(gone.isObeyed(for: counted) == false)
    }

    @Test("leave a download's file to the session where it makes one, and give it none where they know no place for it")
    func downloadedFile() throws {
        let session = URLSession(configuration: .ephemeral)
        let task = session.downloadTask(with: try #require(URL(string: "http://file.test/")))
        let owner = URLProtocol(task: task, cachedResponse: nil, client: nil)
        for other in [DownloadedFile(property: "_properties"), DownloadedFile(property: "_task")] {
            #expect(!other.canBeHandedOver)
            #expect(!other.handOver(URL(filePath: "/tmp/file"), by: owner))
        }
        let gone = DownloadedFile(isNeeded: false)
        #expect(gone.cure.state == .notNeeded)
        #expect(gone.isMadeBySession)
        #expect(gone.canBeHandedOver)
    }

    @Test("leave responses to Foundation where it makes them as fast")
    func knownResponses() throws {
        let responses = KnownResponses(KnownResponses.Layout(), isNeeded: false)
        #expect(responses.cure.state == .notNeeded)
        #expect(!responses.isUsed)
        let response = try #require(responses.response(URL(fileURLWithPath: "/"), 200, ["etag": "\"a\""]))
        #expect(response.allHeaderFields as? [String: String] == ["Etag": "\"a\""])
    }

    @Test("find the version of the toolchain, by which they recognise what a minor version has corrected")
    func version() {
        #expect(ToolchainVersion(6, 3) < ToolchainVersion(6, 4))
        #expect(ToolchainVersion(6, 10) > ToolchainVersion(6, 4))
        #expect(ToolchainVersion(7, 0) > ToolchainVersion(6, 4))
        #if compiler(>=6.4)
        #expect(ToolchainVersion.current >= ToolchainVersion(6, 4))
        #else
        #expect(ToolchainVersion.current == ToolchainVersion(6, 3))
        #endif
    }
}
