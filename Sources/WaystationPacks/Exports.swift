// Byte sources and file errors are part of the vocabulary.
@_exported public import WaystationFileSystem
