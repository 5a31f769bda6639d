/// Foundation with its loaders, which are a module of their own on Linux.
@_exported public import Foundation

#if canImport(FoundationNetworking)
@_exported public import FoundationNetworking
#endif
