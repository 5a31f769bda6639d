import Foundation

/// How names are compared: without case, Unicode form and characters that are not shown.
enum NameFolding {
    /// A form that is equal for all spellings of a name.
    ///
    /// Case is folded down, up, and down again. A single step leaves `ß` and `SS` apart, or the two forms of a small sigma.
    /// Without the first step `ẞ`, whose upper case is itself, and `ß`, whose upper case is `SS`, stay apart.
    static func folded(_ segment: Substring) -> String {
        if segment.utf8.allSatisfy({ $0 < 0x80 }) { return segment.lowercased() }
        // Case changes depend on the order of marks, so each step takes the normal form.
        return visible(segment).precomposedStringWithCanonicalMapping.lowercased()
            .precomposedStringWithCanonicalMapping.uppercased()
            .precomposedStringWithCanonicalMapping.lowercased()
    }

    /// A name without the characters that file systems with folding ignore, such as joiners and variation selectors
    /// (Unicode's property `Default_Ignorable_Code_Point`).
    static func visible(_ segment: Substring) -> String {
        if segment.utf8.allSatisfy({ $0 < 0x80 }) { return String(segment) }
        return String(
            String.UnicodeScalarView(segment.unicodeScalars.filter { !$0.properties.isDefaultIgnorableCodePoint })
        )
    }
}
