package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// A body stream from which a fresh one can be made, so that its request can be sent more than once.
package protocol RewindableStream: InputStream {
    /// A new stream that reads the body from the beginning.
    var rewound: InputStream { get }
    /// The length of the whole body, in bytes.
    var length: Int { get }
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
