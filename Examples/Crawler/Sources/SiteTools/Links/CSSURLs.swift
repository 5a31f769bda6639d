/// The URLs in a style sheet.
///
/// Works on the tokens of CSS Syntax Level 3, so it reads comments, strings, escapes and bad tokens as browsers do. It
/// finds `url()`, `@import` in both forms, and the plain strings of `image-set()`. The strings of `@namespace` and
/// `@charset` are never loaded.
enum CSSURLs {
    struct Reference: Hashable, Sendable {
        let url: String
        let isImport: Bool

        var kind: LinkKind { isImport ? .stylesheet : .style }
    }

    static func references(in css: String) -> [Reference] {
        var css = css
        return css.withUTF8 { references(in: $0) }
    }

    static func references(in css: UnsafeBufferPointer<UInt8>) -> [Reference] {
        var tokenizer = CSSTokenizer(css)
        var found: [Reference] = []
        var functions: [String] = []
        var rule = AtRule.none

        func add(_ url: String, isImport: Bool) {
            if !url.isEmpty { found.append(Reference(url: url, isImport: isImport)) }
        }

        while let token = tokenizer.next() {
            switch token {
            case .atKeyword(let name):
                rule = AtRule(name)
            case .url(let url):
                if rule != .ignored { add(url, isImport: rule == .importing) }
                if rule == .importing { rule = .none }
            case .string(let string):
                if rule == .importing, functions.isEmpty || functions == ["url"] {
                    add(string, isImport: true)
                    rule = .none
                } else if let function = functions.last, rule != .ignored {
                    if function == "url" || function == "image-set" || function == "-webkit-image-set" {
                        add(string, isImport: false)
                    }
                }
            case .function(let name):
                functions.append(name)
            case .openParenthesis:
                functions.append("(")
            case .closeParenthesis:
                _ = functions.popLast()
            case .semicolon, .brace:
                functions.removeAll()
                rule = .none
            case .other:
                break
            }
        }
        return found
    }

    private enum AtRule {
        case none, importing, ignored

        init(_ name: String) {
            switch name {
            case "import": self = .importing
            case "namespace", "charset": self = .ignored
            default: self = .none
            }
        }
    }
}
