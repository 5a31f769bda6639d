#if NIO
import Foundation
import FoundationNetworking
import Synchronization
import Testing
import WaystationTestSupport

@testable import WaystationNIO

/// Something that a server does wrong, or that is at least unusual, while it answers loads.
///
/// It concerns stream 1 or 3, the connection, or the idle stream 101; the other loads are on the streams 5, 7 and 9.
struct BadEvent: CustomTestStringConvertible {
    let title: String
    let frames: [SentFrame]
    /// Whether the connection ends with GOAWAY (RFC 9113 §5.4.1); nil if that depends on the request's progress.
    let breaksConnection: Bool?

    var testDescription: String { title }

    init(_ title: String, _ bytes: [UInt8]..., breaksConnection: Bool = false) {
        self.title = title
        self.breaksConnection = breaksConnection
        frames = SentFrame.parse(Array(bytes.joined()))
    }

    /// A case of h2spec, whose idle stream has the number 5.
    init(_ example: ServerFrameCase) {
        title = example.testDescription
        frames = SentFrame.parse(Array(example.frames.joined())).map { frame in
            var frame = frame
            if frame.id == 5 { frame.id = 101 }
            return frame
        }
        if example.isUploading {
            breaksConnection = nil
        } else if case .connectionError = example.outcome {
            breaksConnection = true
        } else {
            breaksConnection = false
        }
    }

    var bytes: [UInt8] { frames.flatMap { RawFrames.frame($0.type, flags: $0.flags, on: $0.id, $0.payload) } }

    /// The last stream that the server works on after the event.
    var lastStream: UInt32 { frames.filter { $0.type == 7 && $0.id == 0 }.map { $0.number() }.min() ?? .max }

    /// Whether the server may send more on a stream after the event.
    func leavesOpen(_ stream: UInt32) -> Bool {
        stream <= lastStream
            && !frames.contains { $0.id & 0x7FFF_FFFF == stream && ($0.type == 3 || ($0.type < 2 && $0.isLast)) }
    }

    static let all = ServerFrameCase.all.map { BadEvent($0) } + others

    private static let ok = ServerFrameCase.ok

    private static let others: [BadEvent] =
        (0...14).map { BadEvent("RST_STREAM with code \($0)", RawFrames.reset(1, $0)) }
        + [0, 1, 2, 7, 9, 11, 13, 99].flatMap { code in
            [0, 1, 5, 0x7FFF_FFFF].map {
                BadEvent("GOAWAY up to \($0) with code \(code)", RawFrames.goAway(last: $0, code))
            }
        }
        + [100, 102, 103, 199].map { BadEvent("an interim \($0)", RawFrames.headers(1, [(":status", "\($0)")])) }
        + ["101", "099", "1000", "", "abc", "20"].map {
            BadEvent("the status \"\($0)\"", RawFrames.headers(1, [(":status", $0)]))
        }
        + [
            .init("an interim response that ends the stream", RawFrames.headers(1, [(":status", "100")], isLast: true)),
            .init("a head without a status", RawFrames.headers(1, [("x", "y")])),
            .init("two statuses", RawFrames.headers(1, ScriptedServer.ok + ScriptedServer.ok)),
            .init("DATA before the head", RawFrames.data(1, [1])),
            .init(
                "trailers",
                RawFrames.headers(1, ScriptedServer.ok),
                RawFrames.headers(1, [("x", "y")], isLast: true)
            ),
            .init(
                "a body shorter than its Content-Length",
                RawFrames.headers(1, ScriptedServer.ok + [("content-length", "5")]),
                RawFrames.data(1, [1], isLast: true)
            ),
            .init(
                "two lengths",
                RawFrames.headers(1, ScriptedServer.ok + [("content-length", "5"), ("content-length", "6")])
            ),
            .init("a length that is no number", RawFrames.headers(1, ScriptedServer.ok + [("content-length", "-1")])),
            .init("padding alone", RawFrames.headers(1, ScriptedServer.ok), RawFrames.data(1, padding: 255)),
            .init("empty DATA", RawFrames.headers(1, ScriptedServer.ok), RawFrames.data(1), RawFrames.data(1)),
            .init("ALTSVC", RawFrames.frame(10, on: 1, [0, 0] + Array("h2=\":1\"".utf8))),
            .init("ORIGIN", RawFrames.frame(12, [0, 3] + Array("a.b".utf8))),
            .init(
                "a window of 0, and then the old one",
                RawFrames.settings([(4, 0)]),
                RawFrames.settings([(4, 65_535)])
            ),
            .init("another size of the table", RawFrames.settings([(1, 0)]), RawFrames.settings([(1, 4096)])),
            .init("a smaller number of streams", RawFrames.settings([(3, 1)])),
            .init("a small list of fields", RawFrames.settings([(6, 10)]), RawFrames.settings([(6, 100_000)])),
            .init(
                "DATA of another load within a head",
                RawFrames.frame(1, on: 1, ok),
                RawFrames.data(5, [1]),
                breaksConnection: true
            ),
            .init(
                "CONTINUATION of another load within a head",
                RawFrames.frame(1, on: 1, ok),
                ServerFrameCase.continuation(ok, on: 5),
                breaksConnection: true
            ),
            .init(
                "PUSH_PROMISE on stream 0",
                RawFrames.frame(5, flags: 0x4, RawFrames.number(2)),
                breaksConnection: true
            ),
            .init("HEADERS on an idle stream", RawFrames.headers(101, ScriptedServer.ok), breaksConnection: true),
        ]
}

/// What the server has sent of the other responses when the event comes.
enum BadEventMoment: CaseIterable {
    case beforeHeads, withinBodies, afterSome
}

@Suite("Bad events of an HTTP/2 server give no other load wrong data", .timeLimit(.minutes(10)))
struct BadEventTests {
    private static let streams: [UInt32] = [1, 3, 5, 7, 9]

    private static func body(_ path: String) -> [UInt8] {
        Array(String(repeating: "\(path)|", count: path == "/9" ? 9000 : 90).utf8)
    }

    private static func head(_ request: FrameOrigin.Request) -> [UInt8] {
        RawFrames.headers(request.stream, ScriptedServer.ok + [("x-path", request.path)])
    }

    /// A part of a body, in frames of 16,000 bytes.
    private static func data(_ request: FrameOrigin.Request, _ part: ArraySlice<UInt8>, isLast: Bool) -> [UInt8] {
        let starts = Array(stride(from: part.startIndex, to: part.endIndex, by: 16_000))
        return starts.flatMap { start in
            let bytes = part[start..<min(start + 16_000, part.endIndex)]
            return RawFrames.data(request.stream, Array(bytes), isLast: isLast && bytes.endIndex == part.endIndex)
        }
    }

    /// The frames of a response before the event, and those after it.
    private static func halves(_ request: FrameOrigin.Request, _ moment: BadEventMoment) -> ([UInt8], [UInt8]) {
        let body = body(request.path)
        let middle = body.count / 2
        switch moment {
        case .beforeHeads: return ([], head(request) + data(request, body[...], isLast: true))
        case .afterSome where [5, 7].contains(request.stream):
            return (head(request) + data(request, body[...], isLast: true), [])
        case .withinBodies, .afterSome:
            // The event itself decides how the responses on the streams 1 and 3 begin.
            guard request.stream > 3 else { return ([], head(request) + data(request, body[...], isLast: true)) }
            return (
                head(request) + data(request, body[..<middle], isLast: false),
                data(request, body[middle...], isLast: true)
            )
        }
    }

    private static func answer(
        _ requests: [FrameOrigin.Request],
        _ event: BadEvent,
        _ moment: BadEventMoment
    ) -> FrameOrigin.Answer {
        let halves = requests.map { ($0.stream, Self.halves($0, moment)) }
        let before = halves.flatMap { $0.1.0 }
        let after = halves.flatMap { stream, halves in event.leavesOpen(stream) ? halves.1 : [] }
        return .init(before, event.bytes, after)
    }

    @Test("around loads with and without bodies", arguments: BadEvent.all, BadEventMoment.allCases)
    func event(_ event: BadEvent, _ moment: BadEventMoment) async throws {
        let hasHappened = Mutex(false)
        let origin = try FrameOrigin { requests in
            let isFirst = hasHappened.withLock { hasHappened in
                guard requests.count == Self.streams.count, !hasHappened else { return false }
                hasHappened = true
                return true
            }
            if isFirst { return Self.answer(requests, event, moment) }
            guard hasHappened.withLock({ $0 }), let request = requests.last else { return .none }
            return .init(Self.head(request), Self.data(request, Self.body(request.path)[...], isLast: true))
        }
        let transport = NIOTransport.frames()
        let recorders = Self.streams.map { _ in Recorder() }
        for (stream, recorder) in zip(Self.streams, recorders) {
            let request = URLRequest(origin.url("/\(stream)")) {
                $0.timeoutInterval = 30
                guard stream == 7 else { return }
                $0.httpMethod = "POST"
                $0.httpBody = Data(repeating: 7, count: 40_000)
            }
            _ = transport.start(request, receiver: recorder)
        }
        var outcomes: [UInt32: Recorder.Outcome] = [:]
        for (stream, recorder) in zip(Self.streams, recorders) { outcomes[stream] = await recorder.end() }
        check(outcomes, event, moment)
        #expect(origin.mistakes == [])
        // The transport carries another load.
        #expect(await transport.load(origin.url("/next")).body == Data(Self.body("/next")))
    }

    private func check(_ outcomes: [UInt32: Recorder.Outcome], _ event: BadEvent, _ moment: BadEventMoment) {
        for (stream, outcome) in outcomes {
            #expect(outcome.wrongCalls == 0 && outcome.code != .timedOut, "stream \(stream)")
            guard stream > 3 else { continue }
            let isRight =
                outcome.error == nil && outcome.body == Data(Self.body("/\(stream)"))
                && outcome.fields["x-path"] == "/\(stream)"
            #expect(isRight || outcome.error != nil, "stream \(stream)")
            if event.breaksConnection == false, event.leavesOpen(stream) { #expect(isRight, "stream \(stream)") }
            guard event.breaksConnection == true, moment == .beforeHeads else { continue }
            // What can be repeated is repeated on another connection.
            #expect(isRight == (stream != 7), "stream \(stream)")
            if stream == 7 { #expect(outcome.error?.localizedDescription.hasPrefix("The server ") == true) }
        }
    }
}
#endif
