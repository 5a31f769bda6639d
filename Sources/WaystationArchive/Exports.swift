// Byte sources and file errors are part of this module's API.
@_exported public import WaystationFileSystem
