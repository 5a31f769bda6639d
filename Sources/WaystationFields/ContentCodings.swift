/// The content codings of a body (RFC 9110 §8.4), as all who read a response understand them.
///
/// A client removes codings that it knows. If it does not know one of them, it removes none, as browsers do: the body is
/// the one that came, and so is the field. Servers name things there that are no codings, such as `utf-8` and
/// `aws-chunked`.
package struct ContentCodings: Equatable, Sendable {
    /// The codings in the order in which they were applied, in lower case.
    ///
    /// `identity`, and `none`, by which stores of objects and libcurl mean the same, are left out.
    package let names: [String]

    /// Reads the values of `Content-Encoding`.
    package init(_ values: some Sequence<String>) {
        names = values.flatMap(\.listMembers).map { $0.lowercased() }.filter { !Self.empty.contains($0) }
    }

    /// Whether a client removes the codings, so that the fields of the response describe other bytes than its body.
    package var areRemoved: Bool { !names.isEmpty && names.allSatisfy(Self.known.contains) }

    /// The codings that both engines know.
    private static let known: Set<String> = ["gzip", "x-gzip", "deflate", "br", "zstd"]
    private static let empty: Set<String> = ["identity", "none"]
}
