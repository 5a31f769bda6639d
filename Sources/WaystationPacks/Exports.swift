// The public API uses the byte sources and file errors of this module.
@_exported public import WaystationFileSystem
