// The public API uses the protocol of errors and the dates of files. Beside a body, the store keeps the values by which
// the caching rules decide.
@_exported public import protocol WaystationHTTP.CodedError
@_exported public import struct WaystationHTTP.HTTPDate
@_exported public import struct WaystationHTTP.RequestKey
@_exported public import struct WaystationHTTP.StoredHead
@_exported public import struct WaystationHTTP.VaryKey
