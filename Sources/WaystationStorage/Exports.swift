// Besides a body, the store keeps the values by which the caching rules decide.
@_exported public import struct WaystationCaching.RequestKey
@_exported public import struct WaystationCaching.StoredHead
@_exported public import struct WaystationCaching.VaryKey
@_exported public import protocol WaystationFields.CodedError
