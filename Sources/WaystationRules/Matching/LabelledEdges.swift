/// The edges of a forest of tries: each leads from a node, by a label of bytes, to a child.
///
/// All edges share one open-addressed table, keyed by node and label, so that a step usually costs one memory access
/// regardless of the number of children, and no key object is made. Dictionaries keyed by `Substring` would hash with
/// SipHash and count references at each step.
struct LabelledEdges: Sendable {
    private struct Edge {
        var hash: UInt32
        var parent: Int32
        /// The child; -1 in a free slot.
        var child: Int32
        var labelStart: Int32
        var labelCount: Int32

        static let free = Edge(hash: 0, parent: -1, child: -1, labelStart: 0, labelCount: 0)
    }

    private var slots: [Edge] = Array(repeating: .free, count: 16)
    private var count = 0
    /// The labels of all edges, joined.
    private var labels: [UInt8] = []
    /// The seed differs in each process, so that an attacker cannot prepare a list of labels that collide.
    private let seed = UInt64(truncatingIfNeeded: "waystation".hashValue)

    /// Returns the child of `parent` by the label `bytes[start..<end]`, or -1.
    @inline(__always)
    func child(of parent: Int32, by bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ end: Int) -> Int32 {
        let hash = hash(parent, bytes, start, end)
        let mask = slots.count - 1
        var slot = Int(hash) & mask
        while true {
            let edge = slots[slot]
            if edge.child < 0 { return -1 }
            if edge.hash == hash, edge.parent == parent, Int(edge.labelCount) == end - start,
                isLabel(of: edge, bytes, start)
            {
                return edge.child
            }
            slot = (slot + 1) & mask
        }
    }

    /// Adds an edge that does not exist yet.
    mutating func insert(from parent: Int32, by label: UnsafeBufferPointer<UInt8>, to child: Int32) {
        if (count + 1) * 2 > slots.count { grow() }
        let edge = Edge(
            hash: hash(parent, label, 0, label.count),
            parent: parent,
            child: child,
            labelStart: Int32(labels.count),
            labelCount: Int32(label.count)
        )
        labels.append(contentsOf: label)
        place(edge)
        count += 1
    }

    private mutating func grow() {
        let old = slots
        slots = Array(repeating: .free, count: old.count * 2)
        for edge in old where edge.child >= 0 { place(edge) }
    }

    private mutating func place(_ edge: Edge) {
        let mask = slots.count - 1
        var slot = Int(edge.hash) & mask
        while slots[slot].child >= 0 { slot = (slot + 1) & mask }
        slots[slot] = edge
    }

    @inline(__always)
    private func isLabel(of edge: Edge, _ bytes: UnsafeBufferPointer<UInt8>, _ start: Int) -> Bool {
        let offset = Int(edge.labelStart)
        for index in 0..<Int(edge.labelCount) where labels[offset + index] != bytes[start + index] { return false }
        return true
    }

    /// Combines eight bytes at a time through a full-width product, as wyhash does.
    @inline(__always)
    private func hash(_ parent: Int32, _ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ end: Int) -> UInt32 {
        func fold(_ left: UInt64, _ right: UInt64) -> UInt64 {
            let product = left.multipliedFullWidth(by: right)
            return product.high ^ product.low
        }
        var state = fold(seed ^ UInt64(UInt32(bitPattern: parent)), 0x9E37_79B9_7F4A_7C15)
        var index = start
        let raw = UnsafeRawBufferPointer(bytes)
        while index + 8 <= end {
            state = fold(state ^ raw.loadUnaligned(fromByteOffset: index, as: UInt64.self), 0xA076_1D64_78BD_642F)
            index += 8
        }
        var tail: UInt64 = 0
        while index < end {
            tail = tail << 8 | UInt64(bytes[index])
            index += 1
        }
        state = fold(state ^ tail, 0xE703_7ED1_A0B4_28DB ^ UInt64(end - start))
        return UInt32(truncatingIfNeeded: state ^ state >> 32)
    }
}
