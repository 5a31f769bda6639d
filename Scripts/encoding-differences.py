#!/usr/bin/env python3
"""Compares the indexes of the WHATWG Encoding standard with the tables of this machine's iconv, and writes the table of
their differences anew.

  encoding-differences.py FOLDER      a checkout of the standard's repository, https://github.com/whatwg/encoding

The script reads the files index-big5.txt, index-gb18030.txt, … and LICENSE. The
table is Examples/Crawler/Sources/SiteTools/Encodings/CharacterTable+Differences.swift. The script prints the number of
differences of each index, and its SHA-256 digest, which EncodingTests.swift compares with the crawler's tables.
"""

import ctypes
import hashlib
import pathlib
import struct
import sys

TABLE = (
    pathlib.Path(__file__).parent.parent
    / "Examples/Crawler/Sources/SiteTools/Encodings/CharacterTable+Differences.swift"
)
# The longest line of the table, without its indentation.
WIDTH = 100

HEAD = '''\
// Written by Scripts/encoding-differences.py from the indexes of the WHATWG Encoding standard
// (https://encoding.spec.whatwg.org) and glibc {version}. The characters are from the standard:
//
{license}

extension CharacterTable {{
    /// The characters in which an index differs from the table of `iconv`, and those in which tables of other versions
    /// of glibc may differ.
    static func differences(of index: Index) -> [(pointer: Int, character: UInt32)] {{
        let text: String =
            switch index {{
'''

TAIL = '''\
            default: ""
            }
        return text.split(separator: "\\n").flatMap { line in
            let numbers = line.split(separator: " ")
            let start = numbers.first.flatMap { Int($0) } ?? 0
            return numbers.dropFirst().enumerated().map { (start + $0, UInt32($1, radix: 16) ?? 0) }
        }
    }
}
'''


def shift_jis(pointer):
    lead, trail = divmod(pointer, 188)
    return bytes([lead + (0x81 if lead < 0x1F else 0xC1), trail + (0x40 if trail < 0x3F else 0x41)])


def rows(width, second, gap, offset):
    """The code of a pointer, where the second bytes have a gap: `offset` is added from `gap` on."""

    def code(pointer):
        lead, trail = divmod(pointer, width)
        return bytes([lead + 0x81, trail + (second if trail < gap else offset)])

    return code


# The name in Swift, the file, the charset of iconv, the number of pointers, and the code of a pointer.
INDEXES = [
    (".jis0208", "jis0208", "CP932", 60 * 188, shift_jis),
    (".jis0212", "jis0212", "EUC-JP", 94 * 94, lambda p: bytes([0x8F, p // 94 + 0xA1, p % 94 + 0xA1])),
    (".eucKR", "euc-kr", "UHC", 126 * 190, rows(190, 0x41, 190, 0x41)),
    (".big5", "big5", "BIG5-HKSCS", 126 * 157, rows(157, 0x40, 0x3F, 0x62)),
    (".gb18030", "gb18030", "GB18030", 126 * 190, rows(190, 0x40, 0x3F, 0x41)),
]
SINGLE_BYTES = {
    "ibm866": "ibm866", "iso8859p2": "iso-8859-2", "iso8859p3": "iso-8859-3", "iso8859p4": "iso-8859-4",
    "iso8859p5": "iso-8859-5", "iso8859p6": "iso-8859-6", "iso8859p7": "iso-8859-7", "iso8859p8": "iso-8859-8",
    "iso8859p10": "iso-8859-10", "iso8859p13": "iso-8859-13", "iso8859p14": "iso-8859-14", "iso8859p15": "iso-8859-15",
    "iso8859p16": "iso-8859-16", "koi8R": "koi8-r", "koi8U": "koi8-u", "macintosh": "macintosh",
    "windows874": "windows-874", "windows1250": "windows-1250", "windows1251": "windows-1251",
    "windows1252": "windows-1252", "windows1253": "windows-1253", "windows1254": "windows-1254",
    "windows1255": "windows-1255", "windows1256": "windows-1256", "windows1257": "windows-1257",
    "windows1258": "windows-1258", "macCyrillic": "x-mac-cyrillic",
}  # fmt: skip
for swift, file in SINGLE_BYTES.items():
    charset = {"x-mac-cyrillic": "MAC-CYRILLIC"}.get(file, file.replace("windows-", "CP").upper())
    INDEXES.append((f".singleByte(.{swift})", file, charset, 128, lambda p: bytes([p + 0x80])))

# Codes whose characters changed between the editions of GB 18030, and so between versions of glibc.
CHANGING = {".gb18030": {*range(7182, 7189), 7201, 7202, 7208, 7533, *range(23766, 23846)}}


class Iconv:
    def __init__(self, charset):
        self.library = ctypes.CDLL(None)
        self.library.iconv_open.restype = ctypes.c_void_p
        self.library.iconv.argtypes = [ctypes.c_void_p] * 5
        self.library.iconv.restype = ctypes.c_size_t
        self.descriptor = self.library.iconv_open(b"UTF-32LE", charset.encode())
        if self.descriptor in (None, ctypes.c_void_p(-1).value):
            sys.exit(f"this machine's iconv does not know {charset}")

    def character(self, code):
        """The character of a code; 0 if it has none, or more than one."""
        self.library.iconv(self.descriptor, None, None, None, None)
        source, room = ctypes.create_string_buffer(code, len(code)), ctypes.create_string_buffer(16)
        source_at, source_left = ctypes.c_void_p(ctypes.addressof(source)), ctypes.c_size_t(len(code))
        room_at, room_left = ctypes.c_void_p(ctypes.addressof(room)), ctypes.c_size_t(16)
        to, left = ctypes.byref(source_at), ctypes.byref(source_left)
        self.library.iconv(self.descriptor, to, left, ctypes.byref(room_at), ctypes.byref(room_left))
        # iconv holds back letters that the next code might put an accent on.
        self.library.iconv(self.descriptor, None, None, ctypes.byref(room_at), ctypes.byref(room_left))
        return struct.unpack("<I", room.raw[:4])[0] if source_left.value == 0 and room_left.value == 12 else 0


def index(path, count):
    characters = [0] * count
    for line in path.read_text(encoding="utf-8").splitlines():
        fields = line.split()
        if len(fields) >= 2 and not line.startswith("#"):
            characters[int(fields[0])] = int(fields[1], 16)
    return characters


def lines(differences):
    """Lines with a pointer and the characters from it on."""
    line, following = "", None
    for pointer, character in sorted(differences.items()):
        if pointer != following or len(line) > WIDTH - 8:
            if line:
                yield line
            line = str(pointer)
        line += f" {character:X}"
        following = pointer + 1
    if line:
        yield line


def license_notice(text):
    """The copyright and the licence for portions in source code, as comments."""
    notice = text.splitlines()[0] + "\n\n" + text.split("- - - -\n")[-2].strip()
    return "\n".join(f"// {line}".rstrip() for line in notice.splitlines())


def main(folder):
    cases = ""
    for name, file, charset, count, code in INDEXES:
        wanted = index(pathlib.Path(folder, f"index-{file}.txt"), count)
        iconv = Iconv(charset)
        differences = {}
        for pointer, character in enumerate(wanted):
            given = iconv.character(code(pointer))
            # Two rules of CharacterTable.init: the characters that the decoder of Shift_JIS computes, and the bytes of
            # Windows' encodings without a meaning.
            if name == ".jis0208" and 8836 <= pointer <= 10715:
                given = 0
            if file.startswith("windows-") and pointer < 0x20 and not given:
                given = pointer + 0x80
            if given != character or pointer in CHANGING.get(name, ()):
                differences[pointer] = character
        digest = hashlib.sha256(struct.pack(f"<{count}I", *wanted)).hexdigest()
        print(f"{file}: {len(differences)} differences, {digest}")
        if differences:
            text = "\n".join(" " * 16 + line for line in lines(differences))
            cases += f'            case {name}:\n                """\n{text}\n                """\n'
    version = ctypes.CDLL(None).gnu_get_libc_version
    version.restype = ctypes.c_char_p
    notice = license_notice(pathlib.Path(folder, "LICENSE").read_text(encoding="utf-8"))
    head = HEAD.format(version=version().decode(), license=notice)
    TABLE.write_text(head + cases + TAIL, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
