@_spi(Reflection) import Swift

extension FoundationInternals {
    /// Where a stored property lies in an instance of its type, in bytes from the start.
    ///
    /// The standard library's reflection gives the offset, the name and the type of each stored property. The result is
    /// nil unless a property of this very name and this very type exists, so that a toolchain that changes the layout
    /// makes the caller do without, instead of touching memory that belongs to something else.
    ///
    /// - Complexity: O(n) in the properties of the type: look an offset up once.
    static func offset<Property>(of name: String, as property: Property.Type, in owner: Any.Type) -> Int? {
        var found: Int?
        // `_EachFieldOptions.classType` is a mutable static, so its value is written out.
        let options = owner is AnyClass ? _EachFieldOptions(rawValue: 1) : []
        _forEachField(of: owner, options: options) { label, offset, type, _ in
            if type == property, String(cString: label) == name { found = offset }
            return found == nil
        }
        return found
    }
}
