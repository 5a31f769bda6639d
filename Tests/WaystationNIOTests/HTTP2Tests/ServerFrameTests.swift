#if NIO
import NIOCore
import NIOEmbedded
import Testing

@testable import WaystationNIO
import WaystationTestSupport

@Suite("Frames of a server, case by case as in h2spec")
struct ServerFrameTests {
    @Test("are accepted, or refused with the error that RFC 9113 names", arguments: ServerFrameCase.all)
    func cases(_ example: ServerFrameCase) throws {
        let server = try ScriptedServer()
        let exchange = server.begin(
            example.isUploading ? RecordingExchange("POST", .unknownLength) : RecordingExchange()
        )
        let other = server.begin()
        _ = server.frames()
        for frame in example.frames { server.send(frame) }
        let answer = server.frames()
        switch example.outcome {
        case .connectionError(let code):
            #expect(answer.filter { $0.type == 7 }.map { $0.number(at: 4) } == [code.rawValue])
            #expect(!server.channel.isActive && server.owner.closeCount == 1)
            #expect(exchange.failure != nil && other.ends.count == 1)
        case .streamError(let code):
            #expect(answer == [.reset(1, code.rawValue)])
            #expect(exchange.failure?.kind == .invalidResponse)
            try checkUse(of: server)
        case .ignored:
            #expect(!answer.contains { $0.type == 3 || $0.type == 7 })
            #expect(exchange.ends.isEmpty)
            server.send(RawFrames.headers(1, ScriptedServer.ok), RawFrames.data(1, [9], isLast: true))
            #expect(exchange.isComplete && exchange.body == [9])
            try checkUse(of: server)
        case .response(let body):
            #expect(exchange.isComplete && exchange.head?.status == 200 && exchange.body == body)
            try checkUse(of: server)
        }
    }

    /// Checks that a connection carries another exchange.
    private func checkUse(of server: ScriptedServer) throws {
        let next = server.begin()
        let request = try #require(server.frames().last)
        #expect(request.type == 1)
        server.send(RawFrames.headers(request.id, ScriptedServer.ok, isLast: true))
        #expect(next.isComplete && server.channel.isActive)
    }

    @Test(
        "other than SETTINGS at the start end the connection",
        arguments: [
            RawFrames.ping(), RawFrames.windowUpdate(0, 1), RawFrames.goAway(last: 0),
            RawFrames.settingsAcknowledgement,
        ]
    )
    func preface(frame: [UInt8]) throws {
        let server = try ScriptedServer(settings: nil)
        let exchange = server.begin()
        _ = server.frames()
        server.send(frame)
        #expect(server.frames().filter { $0.type == 7 }.map { $0.number(at: 4) } == [1])
        #expect(exchange.failure != nil && !server.channel.isActive)
    }

    @Test("that speak HTTP/1.1 end the connection")
    func wrongProtocol() throws {
        let server = try ScriptedServer(settings: nil)
        let exchange = server.begin()
        server.send(Array("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n".utf8))
        #expect(exchange.failure != nil && !server.channel.isActive)
    }

    @Test("SETTINGS are acknowledged, also when they contain one setting twice; the last value applies")
    func repeatedSetting() throws {
        let server = try ScriptedServer()
        server.send(RawFrames.settings([(4, 100), (4, 1)]))
        #expect(server.frames().contains(SentFrame(type: 4, flags: 1, id: 0, payload: [])))
        let exchange = RecordingExchange("POST", .unknownLength)
        server.begin(exchange)
        server.connection.send(ByteBuffer(repeating: 7, count: 100), isLast: false, of: exchange)
        #expect(server.frames().filter { $0.type == 0 }.map(\.payload.count) == [1])
    }

    @Test("GOAWAY with an unknown code lets open streams complete")
    func unknownCode() throws {
        let server = try ScriptedServer()
        let exchange = server.begin()
        server.send(RawFrames.goAway(last: 1, 0xFF), RawFrames.headers(1, ScriptedServer.ok, isLast: true))
        #expect(exchange.isComplete && !server.channel.isActive)
    }

    @Test("PING is answered with its own bytes")
    func ping() throws {
        let server = try ScriptedServer()
        server.send(RawFrames.frame(6, Array("h2spec\0\0".utf8)))
        #expect(server.frames() == [SentFrame(type: 6, flags: 1, id: 0, payload: Array("h2spec\0\0".utf8))])
    }
}
#endif
