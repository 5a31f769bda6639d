import Synchronization
import WaystationFoundation
import WaystationHTTP

/// Makes the responses that Foundation makes, in less time.
///
/// Foundation spells each field name anew, and reads the media type of each response: for ten fields this takes 11 µs.
/// Here Foundation does both once for each name and each media type. A response is made without fields, and then gets
/// the known results, in the properties that reflection finds. If reflection finds other properties, or a trial shows a
/// difference, Foundation makes every response.
package final class KnownResponses: Sendable {
    static let shared = KnownResponses(KnownResponses.Layout())

    package static var cure: FoundationCure { shared.cure }

    /// The offsets of the properties in a response.
    struct Layout: Sendable {
        private let fields: Int
        private let mimeType: Int
        private let encoding: Int
        private let length: Int

        /// Finds the properties by their names and types; nil if one is missing.
        init?(fields name: String = "_allHeaderFields") {
            let base = URLResponse.self
            let found = (
                FoundationInternals.offset(of: name, as: [String: String].self, in: HTTPURLResponse.self),
                FoundationInternals.offset(of: "mimeType", as: String?.self, in: base),
                FoundationInternals.offset(of: "textEncodingName", as: String?.self, in: base),
                FoundationInternals.offset(of: "expectedContentLength", as: Int64.self, in: base)
            )
            guard let fields = found.0, let mimeType = found.1, let encoding = found.2, let length = found.3 else {
                return nil
            }
            (self.fields, self.mimeType, self.encoding, self.length) = (fields, mimeType, encoding, length)
        }

        /// The fields of a response.
        fileprivate func fields(of response: HTTPURLResponse) -> [String: String] {
            withExtendedLifetime(response) {
                let start = Unmanaged.passUnretained(response).toOpaque()
                return (start + fields).assumingMemoryBound(to: [String: String].self).pointee
            }
        }

        /// Sets the properties of a response that no other code has seen yet.
        fileprivate func set(_ fields: [String: String], _ type: MediaType?, _ length: Int64?, of new: HTTPURLResponse)
        {
            let start = Unmanaged.passUnretained(new).toOpaque()
            func property<Value>(_ offset: Int, as type: Value.Type) -> UnsafeMutablePointer<Value> {
                (start + offset).assumingMemoryBound(to: type)
            }
            property(self.fields, as: [String: String].self).pointee = fields
            if let type {
                property(mimeType, as: String?.self).pointee = type.name
                property(encoding, as: String?.self).pointee = type.encoding
            }
            if let length { property(self.length, as: Int64.self).pointee = length }
            withExtendedLifetime(new) {}
        }
    }

    /// The result of reading a `Content-Type`.
    fileprivate struct MediaType: Sendable {
        let name: String?
        let encoding: String?
    }

    fileprivate struct State {
        /// How Foundation spells a field name; nil for a name that it drops.
        var spellings: [String: String?] = [:]
        var types: [String: MediaType] = [:]
    }

    /// Servers choose names and types, so the tables stop growing before they could take much memory.
    fileprivate static let limit = 256
    /// The number of bytes above which a name or a media type is not remembered: a server could send long ones only to
    /// fill the memory.
    fileprivate static let longestText = 128

    let cure: FoundationCure
    private let layout: Layout?
    private let state = Mutex(State())

    init(_ layout: Layout?, isNeeded: Bool = true) {
        let works = layout.map(Self.works) ?? false
        cure = FoundationCure(
            "L37",
            "a response is made without spelling its fields anew",
            without: "each load takes some 11 µs longer",
            isNeeded: isNeeded,
            missing: works ? nil : "the fields, the media type or the length of HTTPURLResponse"
        )
        self.layout = cure.isApplied ? layout : nil
    }

    /// Whether responses are made here, and not by Foundation.
    var isUsed: Bool { layout != nil }

    /// Makes a response; nil if Foundation makes none of these values.
    func response(_ url: URL, _ statusCode: Int, _ fields: [String: String]) -> HTTPURLResponse? {
        if let response = RawFieldsResponse(url, statusCode, fields) { return response }
        guard let layout, let known = known(fields) else { return Self.original(url, statusCode, fields) }
        let response = HTTPURLResponse(url: url, statusCode: statusCode, httpVersion: "HTTP/1.1", headerFields: nil)
        if let response { layout.set(known.fields, known.type, known.length, of: response) }
        return response
    }

    /// The fields of a response, without the two conversions of each name and value by which Foundation returns them.
    func fields(of response: HTTPURLResponse) -> [String: String] {
        // A subclass may return other fields.
        guard let layout, type(of: response) == HTTPURLResponse.self else { return Self.fields(of: response) }
        return layout.fields(of: response)
    }

    private static func fields(of response: HTTPURLResponse) -> [String: String] {
        response.allHeaderFields as? [String: String] ?? [:]
    }

    static func original(_ url: URL, _ statusCode: Int, _ fields: [String: String]) -> HTTPURLResponse? {
        HTTPURLResponse(url: url, statusCode: statusCode, httpVersion: "HTTP/1.1", headerFields: fields)
    }

    private typealias Known = (fields: [String: String], type: MediaType?, length: Int64?)

    /// The values of a response with these fields; nil if Foundation must find them.
    private func known(_ fields: [String: String]) -> Known? {
        state.withLock { state in
            var known: Known = ([:], nil, nil)
            known.fields.reserveCapacity(fields.count)
            for (name, value) in fields {
                guard let spelling = state.spelling(of: name) else { continue }
                // Of two spellings of one name, Foundation takes either.
                guard known.fields.updateValue(value, forKey: spelling) == nil else { return nil }
                switch spelling {
                case "Content-Type": known.type = state.type(value)
                case "Content-Length": known.length = Int64(value)
                // `Content-Disposition` names a file, which is another one each time.
                case "Content-Disposition": return nil
                default: break
                }
            }
            return known
        }
    }

    /// Tries whether a response gets the values that Foundation gives it.
    private static func works(_ layout: Layout) -> Bool {
        let url = URL(fileURLWithPath: "/")
        let fields = ["content-type": "Text/HTML; charset=UTF-8", "Content-Length": "7", "ETag": "\"a\""]
        guard let trial = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil),
            let model = original(url, 200, fields), case let spelled = Self.fields(of: model), spelled.count == 3
        else { return false }
        layout.set(spelled, MediaType(model), 7, of: trial)
        return Self.fields(of: trial) == spelled && layout.fields(of: model) == spelled
            && trial.mimeType == model.mimeType
            && trial.textEncodingName == model.textEncodingName && trial.url == url
            && trial.expectedContentLength == model.expectedContentLength
            && trial.suggestedFilename == model.suggestedFilename && trial.statusCode == 200
    }
}

extension KnownResponses.MediaType {
    init(_ response: HTTPURLResponse?) {
        name = response?.mimeType
        encoding = response?.textEncodingName
    }
}

extension KnownResponses.State {
    fileprivate mutating func spelling(of name: String) -> String? {
        if let known = spellings[name] { return known }
        let made = KnownResponses.original(URL(fileURLWithPath: "/"), 200, [name: ""])
        let spelling = made?.allHeaderFields.keys.first as? String
        if spellings.count < KnownResponses.limit, name.utf8.count <= KnownResponses.longestText {
            spellings[name] = .some(spelling)
        }
        return spelling
    }

    fileprivate mutating func type(_ text: String) -> KnownResponses.MediaType {
        if let known = types[text] { return known }
        let made = KnownResponses.original(URL(fileURLWithPath: "/"), 200, ["Content-Type": text])
        let type = KnownResponses.MediaType(made)
        if types.count < KnownResponses.limit, text.utf8.count <= KnownResponses.longestText { types[text] = type }
        return type
    }
}

/// A response of which a value is not UTF-8: it shows the app the characters, and keeps the bytes.
///
/// `@unchecked Sendable`: as its superclass, it is never changed.
final class RawFieldsResponse: HTTPURLResponse, @unchecked Sendable {
    /// Nil for a response that was decoded: the bytes are not encoded.
    let rawFields: [String: String]?

    /// Makes a response; nil if none of the values has bytes to keep, or Foundation makes none of these values.
    init?(_ url: URL, _ statusCode: Int, _ fields: [String: String]) {
        guard fields.holdBytes else { return nil }
        rawFields = fields
        super.init(url: url, statusCode: statusCode, httpVersion: "HTTP/1.1", headerFields: fields.shown)
    }

    required init?(coder: NSCoder) {
        rawFields = nil
        super.init(coder: coder)
    }
}

extension [String: String] {
    fileprivate var holdBytes: Bool { contains { FieldText.holdsBytes($0.value) } }

    /// The fields as a reader sees them.
    var shown: [String: String] { holdBytes ? mapValues(FieldText.shown) : self }
}
