/// A mistake in a text, at the offsets of its Unicode scalars.
struct Fault: Error, Equatable {
    let range: Range<Int>
    let message: String

    init(_ range: Range<Int>, _ message: String) {
        self.range = range
        self.message = message
    }
}

/// The mistakes that several readers of one text find.
final class FaultList {
    private(set) var faults: [Fault]

    init(_ faults: [Fault]) { self.faults = faults }

    func add(_ range: Range<Int>, _ message: String) { faults.append(Fault(range, message)) }
}
