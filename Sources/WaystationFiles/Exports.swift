@_exported public import struct WaystationFields.HTTPDate
