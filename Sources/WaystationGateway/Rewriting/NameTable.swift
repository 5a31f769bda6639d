#if Gateway
/// Values by their names, for a look-up at each tag and attribute of a page.
///
/// A dictionary would spend most of its time on a hash that resists attacks, which these fixed names do not need.
struct NameTable<Value: Sendable>: Sendable {
    private var slots: [(name: ShortName, value: Value)?]
    private let mask: Int

    init(_ values: [ShortName: Value]) {
        let count = 1 << (Int.bitWidth - (values.count * 4).leadingZeroBitCount)
        slots = Array(repeating: nil, count: count)
        mask = count - 1
        for (name, value) in values {
            var index = name.mixed & mask
            while slots[index] != nil { index = (index + 1) & mask }
            slots[index] = (name, value)
        }
    }

    subscript(name: ShortName) -> Value? {
        var index = name.mixed & mask
        // Most slots are empty.
        while let slot = slots[index] {
            if slot.name == name { return slot.value }
            index = (index + 1) & mask
        }
        return nil
    }
}
#endif
