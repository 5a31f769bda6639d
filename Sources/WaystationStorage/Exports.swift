// The public API uses the shape of errors and the dates of files; besides a body, the store keeps the values by which the
// caching rules decide.
@_exported public import protocol WaystationHTTP.CodedError
@_exported public import struct WaystationHTTP.HTTPDate
@_exported public import struct WaystationHTTP.RequestKey
@_exported public import struct WaystationHTTP.StoredHead
@_exported public import struct WaystationHTTP.VaryKey
