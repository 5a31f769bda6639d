import Foundation
import HTTPTypes
import WaystationCaching
import WaystationStorage

/// A value of a shared tier: a response, or how the responses of its key vary.
///
/// Format (`Docs/FileFormats.md`): a header of 8 bytes, `WSR` and the version, and the length of the rest as a number of
/// 32 bits; then the sealed contents. All numbers are big-endian. The contents are
///
/// ```text
/// 1   kind: 1 for a response, 2 for names of fields
/// 32  the stamp under which the value was stored: the values of the two roots
/// kind 1:
/// 2   status
/// 8   time of the request, microseconds since 1970
/// 8   time of the response
/// 4   length of the fields
///     the fields, a field section
///     the body, to the end
/// kind 2:
///     the names, a line each
/// ```
enum SharedEntry: Sendable {
    case response(StoredHead, body: Data)
    /// The response of a request is at the place of its variant: these fields of the request select it.
    case variants(of: [HTTPField.Name])

    private static let magic = Data("WSR".utf8) + [UInt8(SharedKeys.version)]
    static let headerLength = 8

    /// The size of the largest value, with 1 MiB for the fields of its response.
    static func longest(forBodiesUpTo body: Int) -> Int { min(max(0, body), Int(Int32.max)) + (1 << 20) }

    /// The header and the sealed rest of a value; nil if the header does not belong to a value of this version, or the
    /// rest is not as long as it says.
    static func split(_ value: Data) -> (header: Data, sealed: Data)? {
        let (header, sealed) = (value.prefix(headerLength), value.dropFirst(headerLength))
        return header == self.header(for: sealed.count) ? (header, sealed) : nil
    }

    /// The header of a value whose sealed rest has this length.
    static func header(for length: Int) -> Data {
        var header = magic
        header.appendNumber(UInt32(truncatingIfNeeded: length))
        return header
    }

    /// The contents of the value, before they are sealed.
    func encoded(under stamp: Data) -> Data {
        switch self {
        case .response(let head, let body):
            let fields = FieldSection.encode(head.headerFields)
            var data = Data(capacity: 64 + fields.count + body.count)
            data.append(1)
            data.append(stamp)
            data.appendNumber(UInt16(head.status))
            data.appendNumber(UInt64(bitPattern: head.requestTime.microseconds))
            data.appendNumber(UInt64(bitPattern: head.responseTime.microseconds))
            data.appendNumber(UInt32(truncatingIfNeeded: fields.count))
            data.append(fields)
            data.append(body)
            return data
        case .variants(let names):
            return Data([2]) + stamp + Data(names.map(\.canonicalName).joined(separator: "\n").utf8)
        }
    }

    /// Reads the contents of a value.
    ///
    /// - Parameters:
    ///   - contents: The opened contents.
    ///   - request: The request that the value is for.
    /// - Returns: The value and its stamp; nil if the contents are not of this format.
    static func decode(_ contents: Data, for request: SharedRequest) -> (entry: SharedEntry, stamp: Data)? {
        contents.withUnsafeBytes { decode($0[...], for: request) }
    }

    private static func decode(
        _ contents: Slice<UnsafeRawBufferPointer>,
        for request: SharedRequest
    ) -> (entry: SharedEntry, stamp: Data)? {
        var rest = contents
        guard let kind = rest.popFirst(), let stamp = rest.take(SharedStamp.length).map({ Data($0) }) else {
            return nil
        }
        switch kind {
        case 1:
            guard let status: UInt16 = rest.takeNumber(), let sent: UInt64 = rest.takeNumber(),
                let received: UInt64 = rest.takeNumber(), let length: UInt32 = rest.takeNumber(),
                let section = rest.take(Int(length)),
                let fields = FieldSection.decode(UnsafeRawBufferPointer(rebasing: section))
            else { return nil }
            let head = StoredHead(
                key: request.key,
                status: Int(status),
                headerFields: fields,
                vary: VaryKey(fields, request: request.fields),
                requestTime: Date(microseconds: Int64(bitPattern: sent)),
                responseTime: Date(microseconds: Int64(bitPattern: received)),
                contentLength: rest.count
            )
            return (.response(head, body: Data(rest)), stamp)
        case 2:
            let names = rest.split(separator: UInt8(ascii: "\n")).map {
                HTTPField.Name(String(decoding: $0, as: UTF8.self))
            }
            guard !names.isEmpty, !names.contains(nil) else { return nil }
            return (.variants(of: names.compactMap(\.self)), stamp)
        default: return nil
        }
    }
}

/// The values of the two roots under which an entry was stored; it may be used only while both have these values.
struct SharedStamp: Hashable, Sendable {
    static let rootLength = 16
    static let length = 2 * rootLength

    let bytes: Data

    /// Makes the stamp of two roots; nil if one of them has not the form of a root.
    init?(_ all: Data, _ url: Data) {
        guard all.count == Self.rootLength, url.count == Self.rootLength else { return nil }
        bytes = all + url
    }
}

extension Data {
    fileprivate mutating func appendNumber<Number: FixedWidthInteger>(_ number: Number) {
        Swift.withUnsafeBytes(of: number.bigEndian) { append(contentsOf: $0) }
    }
}

extension Slice<UnsafeRawBufferPointer> {
    /// Removes and returns the first bytes; nil if there are fewer.
    fileprivate mutating func take(_ count: Int) -> Self? {
        guard count <= self.count else { return nil }
        defer { self = dropFirst(count) }
        return prefix(count)
    }

    fileprivate mutating func takeNumber<Number: FixedWidthInteger & BitwiseCopyable>() -> Number? {
        take(MemoryLayout<Number>.size).map {
            Number(bigEndian: UnsafeRawBufferPointer(rebasing: $0).loadUnaligned(as: Number.self))
        }
    }
}
