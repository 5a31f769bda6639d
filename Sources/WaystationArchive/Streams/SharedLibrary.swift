#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A C library that is looked for at run time and stays loaded.
///
/// `@unchecked Sendable`: the handle is never changed or closed, and `dlsym` may be called from any thread.
package struct SharedLibrary: @unchecked Sendable {
    private let handle: UnsafeMutableRawPointer

    /// - Parameter name: The file's name with its major version, such as `libzstd.so.1`.
    package init?(_ name: String) {
        guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else { return nil }
        self.handle = handle
    }

    /// The function of a name; nil if the library has none.
    ///
    /// - Parameters:
    ///   - name: The function's name.
    ///   - type: Its type, which must be the one in the library's header.
    /// - Returns: The function, or nil.
    package func function<Function>(_ name: String, as type: Function.Type) -> Function? {
        guard let address = dlsym(handle, name) else { return nil }
        return unsafeBitCast(address, to: type)
    }
}
