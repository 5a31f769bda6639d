@_spi(Reflection) import Swift

extension FoundationInternals {
    /// The offset of a stored property in an instance of its type, in bytes from the start.
    ///
    /// The standard library's reflection gives the offset, the name and the type of each stored property. The result is
    /// nil unless a property with exactly this name and type exists. So on a toolchain with another layout the caller
    /// works without the property, instead of accessing memory that belongs to something else.
    ///
    /// - Complexity: O(n) in the properties of the type: look an offset up once.
    package static func offset<Property>(of name: String, as property: Property.Type, in owner: Any.Type) -> Int? {
        var found: Int?
        // `_EachFieldOptions.classType` is a mutable static, so its value is written out.
        let options = owner is AnyClass ? _EachFieldOptions(rawValue: 1) : []
        _forEachField(of: owner, options: options) { label, offset, type, _ in
            if type == property, String(cString: label) == name { found = offset }
            return found == nil
        }
        return found
    }

    /// The type of a stored property; nil if no stored property has this name.
    ///
    /// - Complexity: O(n) in the properties of the type: look a type up once.
    package static func type(of name: String, in owner: Any.Type) -> Any.Type? {
        var found: Any.Type?
        let options = owner is AnyClass ? _EachFieldOptions(rawValue: 1) : []
        _forEachField(of: owner, options: options) { label, _, type, _ in
            if String(cString: label) == name { found = type }
            return found == nil
        }
        return found
    }
}
