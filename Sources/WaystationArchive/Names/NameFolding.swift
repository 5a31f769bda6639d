import Foundation

/// Compares names regardless of case, Unicode form and invisible characters.
enum NameFolding {
    /// Returns a form that is equal for all spellings of a name.
    ///
    /// The case is folded down, up, and down again. A single step would not make `ß` and `SS` equal, nor the two forms
    /// of a small sigma. Without the first folding down, `ẞ`, whose upper case is itself, and `ß`, whose upper case is
    /// `SS`, would not become equal.
    static func folded(_ segment: Substring) -> String {
        if segment.utf8.allSatisfy({ $0 < 0x80 }) { return segment.lowercased() }
        // Case changes depend on the order of combining marks, so each step works on the normal form.
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
