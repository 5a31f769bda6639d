import HTTPTypes
import WaystationCaching

/// A request as a shared tier sees it.
struct SharedRequest: Sendable {
    /// The key under which the response is stored on this machine.
    let key: RequestKey
    /// The request's fields, of which `Vary` may nominate some.
    let fields: HTTPFields

    /// The request's cookies; requests with different cookies never share a response.
    var cookies: String { fields[.cookie] ?? "" }

    /// Whether other machines may wait for the response: that to a request for a range is usually a part, which is not
    /// shared, and a request may forbid to store its response.
    var takesLease: Bool { !fields.contains(.range) && !RequestCacheControl(fields).noStore }

    /// Whether the request says who sends it, so that its response may be meant for one user.
    var isPersonal: Bool { !key.partition.isEmpty || fields.contains(.cookie) || fields.contains(.authorization) }
}
