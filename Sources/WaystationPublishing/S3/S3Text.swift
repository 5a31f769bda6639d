import Foundation

/// The text between tags in an XML document of a store.
///
/// The documents are flat, and the values that are read have no markup, so this needs no parser of XML.
struct S3Text: Sendable {
    private let text: String

    init(_ data: Data) { text = String(decoding: data, as: UTF8.self) }

    private init(_ text: Substring) { self.text = String(text) }

    /// The text of the first element with a name; nil if no element has it.
    subscript(name: String) -> String? {
        all(name).first.map { element in
            element.text.replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&quot;", with: "\"")
                .replacing("&#34;", with: "\"").replacing("&amp;", with: "&")
        }
    }

    /// The elements with a name, one after another.
    func all(_ name: String) -> [S3Text] {
        var found: [S3Text] = []
        var rest = text[...]
        while let start = rest.firstRange(of: "<\(name)>") {
            let after = rest[start.upperBound...]
            guard let end = after.firstRange(of: "</\(name)>") else { break }
            found.append(S3Text(after[..<end.lowerBound]))
            rest = after[end.upperBound...]
        }
        return found
    }
}

/// A page of a listing (`ListObjectsV2`).
struct S3Listing: Sendable {
    let objects: [ListedObject]
    /// The token of the next page; nil after the last.
    let next: String?

    /// Reads a page; an object without a valid time is left out.
    init(_ data: Data, below prefix: String) {
        let text = S3Text(data)
        objects = text.all("Contents").compactMap { element in
            guard let key = element["Key"], key.hasPrefix(prefix), let time = element["LastModified"],
                let modified = (try? Date(time, strategy: .iso8601.time(includingFractionalSeconds: true)))
                    ?? (try? Date(time, strategy: .iso8601))
            else { return nil }
            return ListedObject(key: String(key.dropFirst(prefix.count)), modified: modified)
        }
        next = text["IsTruncated"] == "true" ? text["NextContinuationToken"] : nil
    }
}
