import Foundation

/// Files with two records, compressed by python-zstandard as <https://iipc.github.io/warc-specifications/specifications/warc-zstd/>
/// describes it.
enum ZstandardFiles {
    static let all: [(name: String, file: Data)] = [
        (
            "frames",
            decoded(
                """
                KLUv/SCgPQQAssgdHWBF3NWymUh0r90zG/ZbU3v7hD8j6Fb+ehSsU/gJqanJyrKN0cbIfwOMNr3GvtbaCU16Vw6JTRLBKkSxwnEKqanJ\
                YJc/5BpxvOt3j0ltiEHuBiUG0Ah8HpkX/PddhmZxfEMT6+gejD3tahjgHEyzPKkKUcw0yxMEAEUF94RwxWYwITHzKLUv/SB8dQMAAocY\
                G3BpHenijSnqpHhFc++nIn/jd/X3p1Wk/wEHAqmpubi7QWEN49iEEhtaC6SmAo5V7x1swnnYD32lLu6OGxETiqJR9Ncwq/j/VgnY4Xw7\
                RukGemyaWdVx0c5iSJKaUOLFkCQCAIrNEENiOgE=
                """
            )
        ),
        (
            "a dictionary",
            decoded(
                """
                XSpNGG0AAABXQVJDLzEuMQ0KV0FSQy1UeXBlOiByZXNwb25zZQ0KV0FSQy1UYXJnZXQtVVJJOiBodHRwOi8vc2hvcC5leGFtcGxlLyA8\
                aHRtbD5oZWxsbyB3b3JsZCwgdGhpcyBpcyBhIHBhZ2U8L2h0bWw+KLUv/SCg7QEABANwYWdlDQpDb250ZW50LUxlbmd0aDogNjANCg0K\
                SFRUUC8xLjEgMjAwIE9LCg0KDQoDAD2mwGzWChjFVii1L/0gfP0BAEQDZ29vZA0KQ29udGVudC1MZW5ndGg6IDI0DQoNCkhUVFAvMS4x\
                IDIwMCBPS2dvb2QKDQoNCgIAswkqYBRbAQ==
                """
            )
        ),
        (
            "a compressed dictionary",
            decoded(
                """
                XSpNGGoAAAAotS/9IG0NAwBSRhYacMdti4geIU0KPyuWiRg+4DDkfy0OAiD6AF6Krs5L0FF7dX7OT/YDBW3scKaKqejqTH6ouxQCj2XJ\
                d2i780iQCEaj0xSygS1jO8JNDAwmLU0BQA7kmLQ0AQEAITGdKLUv/SCg7QEABANwYWdlDQpDb250ZW50LUxlbmd0aDogNjANCg0KSFRU\
                UC8xLjEgMjAwIE9LCg0KDQoDAD2mwGzWChjFVii1L/0gfP0BAEQDZ29vZA0KQ29udGVudC1MZW5ndGg6IDI0DQoNCkhUVFAvMS4xIDIw\
                MCBPS2dvb2QKDQoNCgIAswkqYBRbAQ==
                """
            )
        ),
    ]

    private static func decoded(_ text: String) -> Data { Data(base64Encoded: text) ?? Data() }
}
