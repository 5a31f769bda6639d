/// The encodings of the WHATWG Encoding standard, by the names that they have there (section 4.2).
///
/// These are all encodings that browsers read. Each name stands for one way to read any bytes: `ISO-8859-1`, for
/// example, is only a label of windows-1252.
enum WebEncoding: String, CaseIterable, Sendable {
    case utf8 = "UTF-8"
    case ibm866 = "IBM866"
    case iso8859p2 = "ISO-8859-2"
    case iso8859p3 = "ISO-8859-3"
    case iso8859p4 = "ISO-8859-4"
    case iso8859p5 = "ISO-8859-5"
    case iso8859p6 = "ISO-8859-6"
    case iso8859p7 = "ISO-8859-7"
    case iso8859p8 = "ISO-8859-8"
    case iso8859p8I = "ISO-8859-8-I"
    case iso8859p10 = "ISO-8859-10"
    case iso8859p13 = "ISO-8859-13"
    case iso8859p14 = "ISO-8859-14"
    case iso8859p15 = "ISO-8859-15"
    case iso8859p16 = "ISO-8859-16"
    case koi8R = "KOI8-R"
    case koi8U = "KOI8-U"
    case macintosh
    case windows874 = "windows-874"
    case windows1250 = "windows-1250"
    case windows1251 = "windows-1251"
    case windows1252 = "windows-1252"
    case windows1253 = "windows-1253"
    case windows1254 = "windows-1254"
    case windows1255 = "windows-1255"
    case windows1256 = "windows-1256"
    case windows1257 = "windows-1257"
    case windows1258 = "windows-1258"
    case macCyrillic = "x-mac-cyrillic"
    case gbk = "GBK"
    case gb18030
    case big5 = "Big5"
    case eucJP = "EUC-JP"
    case iso2022JP = "ISO-2022-JP"
    case shiftJIS = "Shift_JIS"
    case eucKR = "EUC-KR"
    /// Stands for encodings that are not read at all, because a server and a browser could understand them differently.
    case replacement
    case utf16BE = "UTF-16BE"
    case utf16LE = "UTF-16LE"
    /// Keeps the bytes from 0x80 on as characters for private use.
    case userDefined = "x-user-defined"

    /// The encoding of a label, such as the `charset` of a `Content-Type`; nil if browsers do not know the label.
    ///
    /// White space around a label and the case of its letters do not count.
    init?(label: some Collection<UInt8>) {
        let isSpace = { (byte: UInt8) in byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0C || byte == 0x0D }
        var name = label.drop(while: isSpace).map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
        while let last = name.last, isSpace(last) { name.removeLast() }
        guard let encoding = Self.byLabel[String(decoding: name, as: UTF8.self)] else { return nil }
        self = encoding
    }

    init?(label: String) {
        self.init(label: label.utf8)
    }

    /// The encoding that a page has in which a `meta` element or an XML declaration names this one.
    ///
    /// A declaration that is readable by its bytes is not in UTF-16, and pages that name x-user-defined mean
    /// windows-1252.
    var asDeclared: WebEncoding {
        switch self {
        case .utf16BE, .utf16LE: .utf8
        case .userDefined: .windows1252
        default: self
        }
    }

    /// The encoding that a frame or a style sheet without one takes from a document in this encoding.
    ///
    /// Frames do not take UTF-16 (HTML, "determining the character encoding").
    var asParent: WebEncoding { self == .utf16BE || self == .utf16LE ? .utf8 : self }

    /// Whether ASCII bytes always stand for themselves.
    var keepsASCII: Bool {
        switch self {
        case .utf16BE, .utf16LE, .iso2022JP, .replacement: false
        default: true
        }
    }

    private static let byLabel: [String: WebEncoding] = {
        var byLabel: [String: WebEncoding] = [:]
        for encoding in allCases {
            byLabel[encoding.rawValue.lowercased()] = encoding
            for label in encoding.otherLabels.split(separator: " ") { byLabel[String(label)] = encoding }
        }
        return byLabel
    }()

    /// The labels beside the name in lower case, separated by spaces.
    var otherLabels: String {
        switch self {
        case .utf8: "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf8 x-unicode20utf8"
        case .ibm866: "866 cp866 csibm866"
        case .iso8859p2: "csisolatin2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2 latin2"
        case .iso8859p3: "csisolatin3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3 latin3"
        case .iso8859p4: "csisolatin4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4 latin4"
        case .iso8859p5: "csisolatincyrillic cyrillic iso-ir-144 iso8859-5 iso88595 iso_8859-5 iso_8859-5:1988"
        case .iso8859p6:
            """
            arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6-e iso-8859-6-i iso-ir-127 \
            iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987
            """
        case .iso8859p7:
            """
            csisolatingreek ecma-118 elot_928 greek greek8 iso-ir-126 iso8859-7 iso88597 iso_8859-7 iso_8859-7:1987 \
            sun_eu_greek
            """
        case .iso8859p8:
            """
            csiso88598e csisolatinhebrew hebrew iso-8859-8-e iso-ir-138 iso8859-8 iso88598 iso_8859-8 \
            iso_8859-8:1988 visual
            """
        case .iso8859p8I: "csiso88598i logical"
        case .iso8859p10: "csisolatin6 iso-ir-157 iso8859-10 iso885910 l6 latin6"
        case .iso8859p13: "iso8859-13 iso885913"
        case .iso8859p14: "iso8859-14 iso885914"
        case .iso8859p15: "csisolatin9 iso8859-15 iso885915 iso_8859-15 l9"
        case .koi8R: "cskoi8r koi koi8 koi8_r"
        case .koi8U: "koi8-ru"
        case .macintosh: "csmacintosh mac x-mac-roman"
        case .windows874: "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620"
        case .windows1250: "cp1250 x-cp1250"
        case .windows1251: "cp1251 x-cp1251"
        case .windows1252:
            """
            ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1 iso88591 iso_8859-1 \
            iso_8859-1:1987 l1 latin1 us-ascii x-cp1252
            """
        case .windows1253: "cp1253 x-cp1253"
        case .windows1254:
            """
            cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5 latin5 x-cp1254
            """
        case .windows1255: "cp1255 x-cp1255"
        case .windows1256: "cp1256 x-cp1256"
        case .windows1257: "cp1257 x-cp1257"
        case .windows1258: "cp1258 x-cp1258"
        case .macCyrillic: "x-mac-ukrainian"
        case .gbk: "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 iso-ir-58 x-gbk"
        case .big5: "big5-hkscs cn-big5 csbig5 x-x-big5"
        case .eucJP: "cseucpkdfmtjapanese x-euc-jp"
        case .iso2022JP: "csiso2022jp"
        case .shiftJIS: "csshiftjis ms932 ms_kanji shift-jis sjis windows-31j x-sjis"
        case .eucKR:
            """
            cseuckr csksc56011987 iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949
            """
        case .replacement: "csiso2022kr hz-gb-2312 iso-2022-cn iso-2022-cn-ext iso-2022-kr"
        case .utf16BE: "unicodefffe"
        case .utf16LE: "csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16"
        case .iso8859p16, .gb18030, .userDefined: ""
        }
    }
}
