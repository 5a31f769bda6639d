// What the store keeps of a response besides its body are the values by which the caching rules decide.
@_exported public import struct WaystationCaching.RequestKey
@_exported public import struct WaystationCaching.StoredHead
@_exported public import struct WaystationCaching.VaryKey
