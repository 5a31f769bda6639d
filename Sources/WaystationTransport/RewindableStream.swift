package import WaystationFoundation

/// A body stream from which a fresh one can be made, so that its request can be sent more than once.
package protocol RewindableStream: InputStream {
    /// A new stream that reads the body from the beginning.
    var rewound: InputStream { get }
    /// The length of the whole body, in bytes.
    var length: Int { get }
    /// Whether the whole body is there, so that no read waits for bytes.
    var isWhole: Bool { get }
    /// Runs work as soon as a read returns without waiting for bytes: at once or later, on any thread.
    func whenReadable(_ work: @escaping @Sendable () -> Void)
    /// Runs work as soon as the whole body is there, or will never be: at once or later, on any thread.
    func whenWhole(_ work: @escaping @Sendable () -> Void)
}

extension URLRequest {
    /// The request with its body rewound to the beginning, so that the request can be sent once more.
    package var rewound: URLRequest {
        guard let stream = httpBodyStream as? any RewindableStream else { return self }
        var request = self
        request.httpBodyStream = stream.rewound
        return request
    }

    /// Whether the body can be sent any number of times.
    package var isRepeatable: Bool { httpBodyStream.map { $0 is any RewindableStream } ?? true }
}
