import Synchronization
import Testing

@testable import Waystation

@Suite("The control of a load's present trip")
struct TripControlsTests {
    private var controls = TripControls()
    private let calls = Calls()

    /// The calls of the actions.
    private final class Calls: Sendable {
        private let list = Mutex<[String]>([])

        var all: [String] { list.withLock { $0 } }

        func note(_ call: String) { list.withLock { $0.append(call) } }
    }

    private func control(_ name: String, canDetach: Bool = true) -> TripControl {
        let calls = calls
        let detach: @Sendable () -> Void = { calls.note("detach \(name)") }
        return TripControl(stop: { calls.note("stop \(name)") }, rest: nil, detach: canDetach ? detach : nil)
    }

    @Test("runs the action with which the trip is left, and only once")
    mutating func leaving() {
        controls.take(control("1"), of: 1, isUnderWay: true)?()
        #expect(controls.present != nil && calls.all.isEmpty)
        controls.leave(1, .detaching)?()
        #expect(controls.present == nil)
        #expect(calls.all == ["detach 1"])
    }

    @Test("runs the action as soon as it is known, also if later trips have begun, or were left, meanwhile")
    mutating func leavingEarly() {
        controls.leave(1, .stopping)?()
        controls.leave(3, .detaching)?()
        controls.take(control("5"), of: 5, isUnderWay: true)?()
        #expect(calls.all.isEmpty)
        controls.take(control("3"), of: 3, isUnderWay: false)?()
        controls.take(control("1"), of: 1, isUnderWay: false)?()
        #expect(calls.all == ["detach 3", "stop 1"])
        controls.take(control("1"), of: 1, isUnderWay: false)?()
        controls.leave(5, .stopping)?()
        #expect(calls.all == ["detach 3", "stop 1", "stop 5"])
    }

    @Test("leaves nothing to the cache that is of use to the load alone")
    mutating func notDetachable() {
        controls.take(control("1", canDetach: false), of: 1, isUnderWay: true)?()
        controls.leave(1, .detaching)?()
        #expect(calls.all.isEmpty)
    }
}
