@_exported public import protocol WaystationFields.CodedError
@_exported public import struct WaystationFields.HTTPDate
