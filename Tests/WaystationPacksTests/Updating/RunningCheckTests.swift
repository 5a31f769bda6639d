import Testing

@testable import WaystationPacks

@Suite("A check that is running")
struct RunningCheckTests {
    @Test("has no outcome for a call that comes after the last other call has left")
    func abandoned() async throws {
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        let check = RunningCheck {
            for await _ in ended { break }
            return .failure(PackError(.cancelled, "the check was cancelled"))
        }
        let (started, start) = AsyncStream.makeStream(of: Void.self)
        let first = Task {
            start.yield()
            return await check.value()
        }
        for await _ in started { break }
        first.cancel()
        let left = await first.value
        #expect(throws: PackError.self) { try left?.get() }
        let second = Task { await check.value() }
        end.yield()
        check.finish(await check.end())
        #expect(await second.value == nil)
        #expect(await check.value() == nil)
    }

    @Test("has its outcome for the calls that are left")
    func left() async throws {
        let (ended, end) = AsyncStream.makeStream(of: Void.self)
        let check = RunningCheck {
            for await _ in ended { break }
            return .success(UpdateReport())
        }
        let second = Task { await check.value() }
        end.yield()
        check.finish(await check.end())
        #expect(try await second.value?.get().outcomes.isEmpty == true)
    }
}
