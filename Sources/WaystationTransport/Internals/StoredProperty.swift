@_spi(Reflection) import Swift

/// The place of a stored property that is not public, found by its name and its type.
///
/// The standard library's reflection gives the offset, the name and the type of each stored property.
package struct StoredProperty: Sendable {
    /// The offset in an instance of its type, in bytes from the start; nil if no property has this name and type.
    package let offset: Int?
    /// The property, as in `URLSessionTask.suspendCount: Int`.
    package let description: String

    /// Looks for a property.
    ///
    /// - Complexity: O(n) in the properties of the type: look a property up once.
    package init<Property>(_ name: String, as property: Property.Type, in owner: Any.Type) {
        offset = FoundationInternals.offset(of: name, as: property, in: owner)
        description = "\(owner).\(name): \(property)"
    }

    /// Looks for a property whose type is not public, either.
    ///
    /// - Parameters:
    ///   - name: The name of the property.
    ///   - type: The name of its type, with the module.
    ///   - owner: The type that has the property; nil if that was not found.
    package init(_ name: String, ofType type: String, in owner: Any.Type?) {
        let found = owner.flatMap { owner in FoundationInternals.type(of: name, in: owner).map { (owner, $0) } }
        offset = found.flatMap { owner, found in
            String(reflecting: found) == type ? FoundationInternals.offset(of: name, as: found, in: owner) : nil
        }
        description = "\(owner.map { "\($0)" } ?? "?").\(name): \(type)"
    }
}

extension FoundationInternals {
    /// The offset of a stored property in an instance of its type, in bytes from the start.
    ///
    /// The result is nil unless a property with exactly this name and type exists. So on a toolchain with another layout
    /// the caller works without the property, instead of accessing memory that belongs to something else.
    ///
    /// - Complexity: O(n) in the properties of the type: look an offset up once.
    package static func offset<Property>(of name: String, as property: Property.Type, in owner: Any.Type) -> Int? {
        offset(of: name, as: property as Any.Type, in: owner)
    }

    fileprivate static func offset(of name: String, as property: Any.Type, in owner: Any.Type) -> Int? {
        var found: Int?
        forEachProperty(of: owner) { label, offset, type in
            if type == property, label == name { found = offset }
            return found == nil
        }
        return found
    }

    /// The type of a stored property; nil if no stored property has this name.
    ///
    /// - Complexity: O(n) in the properties of the type: look a type up once.
    package static func type(of name: String, in owner: Any.Type) -> Any.Type? {
        var found: Any.Type?
        forEachProperty(of: owner) { label, _, type in
            if label == name { found = type }
            return found == nil
        }
        return found
    }

    private static func forEachProperty(of owner: Any.Type, _ body: (String, Int, Any.Type) -> Bool) {
        // `_EachFieldOptions.classType` is a mutable static, so its value is written out.
        let options = owner is AnyClass ? _EachFieldOptions(rawValue: 1) : []
        _forEachField(of: owner, options: options) { label, offset, type, _ in
            body(String(cString: label), offset, type)
        }
    }
}
