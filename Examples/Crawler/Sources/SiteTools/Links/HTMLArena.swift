import CGumbo

/// Memory for one parse tree, allocated in large chunks and freed all at once.
///
/// Gumbo makes a hundred thousand small allocations for a page, and frees its tree recursively, so that a deeply nested
/// hostile page would overflow the stack. The arena avoids both.
struct HTMLArena: ~Copyable {
    private struct State {
        var next: UnsafeMutableRawPointer
        var end: UnsafeMutableRawPointer
        var chunks: [UnsafeMutableRawPointer]
    }

    private static let chunkSize = 1 << 20
    private let state: UnsafeMutablePointer<State>

    init() {
        let first = UnsafeMutableRawPointer.allocate(byteCount: Self.chunkSize, alignment: 16)
        state = .allocate(capacity: 1)
        state.initialize(to: State(next: first, end: first + Self.chunkSize, chunks: [first]))
    }

    deinit {
        for chunk in state.pointee.chunks { chunk.deallocate() }
        state.deinitialize(count: 1)
        state.deallocate()
    }

    /// Parser options that allocate in this arena.
    ///
    /// Valid as long as the arena exists.
    var options: GumboOptions {
        var options = kGumboDefaultOptions
        options.userdata = UnsafeMutableRawPointer(state)
        options.allocator = { userdata, size in
            guard let userdata else { return nil }
            return HTMLArena.allocate(size, in: userdata.assumingMemoryBound(to: State.self))
        }
        options.deallocator = { _, _ in }
        options.max_errors = 0
        return options
    }

    private static func allocate(_ size: Int, in state: UnsafeMutablePointer<State>) -> UnsafeMutableRawPointer {
        let rounded = (size + 15) & ~15
        if state.pointee.end - state.pointee.next < rounded {
            let capacity = max(chunkSize, rounded)
            let chunk = UnsafeMutableRawPointer.allocate(byteCount: capacity, alignment: 16)
            state.pointee.chunks.append(chunk)
            // A chunk made for one large block must not replace a chunk that still has room.
            if capacity > chunkSize { return chunk }
            state.pointee.next = chunk
            state.pointee.end = chunk + capacity
        }
        let block = state.pointee.next
        state.pointee.next = block + rounded
        return block
    }
}
