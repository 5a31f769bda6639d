import Foundation
import Synchronization
import Testing
import WaystationTestSupport
import WaystationTesting

@testable import WaystationPacks

@Suite struct CutDownloadTests {
    @Test("A download cut 100 times at random bytes ends with the correct bytes, and fetches none twice")
    func cuts() async throws {
        let bytes = Data.random(400_000, seed: 21)
        let file = ServedFile(bytes: bytes)
        var generator = SeededGenerator(seed: 22)
        let cuts = Set((0..<200).map { _ in Int.random(in: 1..<bytes.count, using: &generator) }).sorted().prefix(100)
        let fixture = try DownloadFixture { request, number in
            guard number < cuts.count else { return file.answer(to: request) }
            let start = file.rangeStart(of: request) ?? 0
            return file.answer(to: request, cutAfter: max(0, cuts[number] - start))
        }
        let artifact = fixture.artifact(bytes)
        for _ in cuts {
            #expect(await errorCode { try await fixture.restarted().download(artifact) } == .interrupted)
        }
        #expect(try Data(contentsOf: await fixture.restarted().download(artifact).file) == bytes)
        let starts = fixture.origin.requests.map { file.rangeStart(of: $0) ?? 0 }
        #expect(starts == [0] + cuts)
    }

    /// A mistake of the server in one answer.
    private enum Fault: CaseIterable {
        case cut, reset, whole, weak, changed, wrongStart, wrongTotal, busy, closed, coded

        func answer(to request: ScriptedOrigin.Request, _ file: ServedFile, at count: Int) -> ScriptedOrigin.Response {
            switch self {
            case .cut: return file.answer(to: request, cutAfter: count)
            case .reset:
                let start = file.rangeStart(of: request) ?? 0
                return .stream(
                    [.bytes(file.bytes[start...].prefix(count)), .reset],
                    status: start > 0 ? 206 : 200,
                    fields: [
                        "ETag": "\"v1\"", "Content-Range": "bytes \(start)-\(file.bytes.count - 1)/\(file.bytes.count)",
                    ],
                    framing: .declaredLength(file.bytes.count - start)
                )
            case .whole:
                var plain = file
                plain.knowsRanges = false
                return plain.answer(to: request, cutAfter: count)
            case .weak:
                var weak = file
                weak.entityTag = "W/\"v1\""
                return weak.answer(to: request, cutAfter: count)
            case .changed:
                var changed = file
                changed.entityTag = "\"v\(count)\""
                return changed.answer(to: request, cutAfter: count)
            case .wrongStart:
                return .status(206, fields: ["Content-Range": "bytes 1-2/\(file.bytes.count)"], body: Data(count: 2))
            case .wrongTotal:
                let start = file.rangeStart(of: request) ?? 0
                return .status(
                    206,
                    fields: ["Content-Range": "bytes \(start)-\(start)/\(start + 1)"],
                    body: Data(count: 1)
                )
            case .busy: return .status(503, fields: ["Retry-After": "1"])
            case .closed: return .closed
            case .coded:
                return .status(
                    206,
                    fields: ["Content-Encoding": "x-odd", "Content-Range": "bytes 0-1/2"],
                    body: Data(count: 2)
                )
            }
        }
    }

    @Test("After a hundred faults in any order the correct bytes arrive", arguments: [UInt64](1...8))
    func faults(seed: UInt64) async throws {
        let bytes = Data.random(100_000, seed: seed)
        let file = ServedFile(bytes: bytes)
        var generator = SeededGenerator(seed: seed)
        let faults = (0..<100).compactMap { _ in Fault.allCases.randomElement(using: &generator) }
        let counts = faults.map { _ in Int.random(in: 0..<5_000, using: &generator) }
        let fixture = try DownloadFixture { request, number in
            guard number < faults.count else { return file.answer(to: request) }
            return faults[number].answer(to: request, file, at: counts[number])
        }
        let artifact = fixture.artifact(bytes, hasSize: seed % 2 == 0)
        let clear: Set<PackError.Code> = [.interrupted, .refused, .network, .badAnswer]
        var result: DownloadedArtifact?
        for _ in 0...faults.count where result == nil {
            do {
                result = try await fixture.restarted().download(artifact)
            } catch let error as PackError {
                #expect(clear.contains(error.code), "\(error)")
            }
        }
        #expect(try Data(contentsOf: try #require(result).file) == bytes)
    }

    @Test(
        "A part of a file of unknown size ends the download only if the digest shows that it was the last one",
        arguments: [true, false]
    )
    func unknownSize(hasDigest: Bool) async throws {
        let bytes = Data.random(1_000, seed: 23)
        let file = ServedFile(bytes: bytes)
        let fixture = try DownloadFixture { request, _ in
            guard let start = file.rangeStart(of: request) else {
                return .stream([.bytes(bytes.prefix(400)), .close], fields: ["ETag": "\"v1\""], framing: .chunked)
            }
            guard start < bytes.count else { return .status(416, fields: ["Content-Range": "bytes */\(bytes.count)"]) }
            let end = min(start + 300, bytes.count)
            return .status(
                206,
                fields: ["ETag": "\"v1\"", "Content-Range": "bytes \(start)-\(end - 1)/*"],
                body: bytes[start..<end]
            )
        }
        let artifact = fixture.artifact(bytes, hasSize: false, hasDigest: hasDigest)
        for size in hasDigest ? [400, 700] : [400, 700, 1_000] {
            #expect(await errorCode { try await fixture.restarted().download(artifact) } == .interrupted)
            #expect(fixture.partSize(of: artifact) == size)
        }
        #expect(try Data(contentsOf: await fixture.restarted().download(artifact).file) == bytes)
        let starts = fixture.origin.requests.map { file.rangeStart(of: $0) ?? 0 }
        #expect(starts == (hasDigest ? [0, 400, 700] : [0, 400, 700, 1_000]))
    }
}
