// Byte sources and errors of files are part of this module's API.
@_exported public import struct Waystation.DownloadProgress
@_exported public import protocol WaystationHTTP.CodedError
@_exported public import protocol WaystationStorage.ByteSource
@_exported public import struct WaystationStorage.ConcatenatedSource
@_exported public import struct WaystationStorage.DataSource
@_exported public import struct WaystationStorage.FileError
@_exported public import class WaystationStorage.FileSource
@_exported public import class WaystationStorage.MappedSource
