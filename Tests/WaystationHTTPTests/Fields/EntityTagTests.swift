import Testing
import WaystationHTTP

@Suite("Entity tags (RFC 9110 §8.8.3)")
struct EntityTagTests {
    @Test(
        "a tag is quoted, weak or not",
        arguments: [
            ("\"a\"", false), ("W/\"a\"", true), ("\"\"", false), ("W/\"\"", true), ("\"a,b\"", false),
            ("\"W/a\"", false), ("\"a\\\"", false), ("\"é\"", false),
        ]
    )
    func valid(_ text: String, isWeak: Bool) throws {
        for value in [text, " \(text)\t"] {
            let tag = try #require(EntityTag(value))
            #expect(tag.fieldValue == text)
            #expect(tag.isWeak == isWeak)
        }
    }

    @Test(
        "a malformed tag gives nil",
        arguments: [
            "", "a", "\"", "\"a", "a\"", "w/\"a\"", "W/a", "W/", "W /\"a\"", "W/ \"a\"", "\"a\"b", "\"a\"\"b\"",
            "\"a b\"", "\"a\tb\"", "\"a\u{7F}\"", "\"a\u{0}\"", "'a'", "\"a\", \"b\"", "*",
        ]
    )
    func invalid(_ text: String) {
        #expect(EntityTag(text) == nil)
    }

    @Test(
        "a tag that is none by the grammar is kept as it came, and counts as weak",
        arguments: ["a", "\"a", "a\"", "w/\"a\"", "W/a", "\"a b\"", "'a'", "a, b", "\"a\"b"]
    )
    func asItCame(_ text: String) throws {
        let tag = try #require(EntityTag(asItCame: " \(text) "))
        #expect(tag.fieldValue == text && tag.isWeak && !tag.isValid)
        let same = try #require(EntityTagList(asItCame: text))
        #expect(same.weaklyMatches(tag) && !same.stronglyMatches(tag))
        #expect(!same.weaklyMatches(EntityTag("\"other\"")) && !same.weaklyMatches(nil))
    }

    @Test(
        "a tag that says something else as a condition, or cannot be sent, is none",
        arguments: ["", " ", "*", "\"a\", \"b\"", ",", "a\u{0}", "a\nb", "\"a\u{7F}\""]
    )
    func notAsItCame(_ text: String) { #expect(EntityTag(asItCame: text) == nil) }

    @Test("a valid tag is read as such")
    func validAsItCame() {
        #expect(EntityTag(asItCame: "\"a\"") == EntityTag("\"a\""))
        #expect(EntityTag(asItCame: "W/\"a\"")?.isValid == true)
    }

    @Test(
        "tags compare as in the table of §8.8.3.2",
        arguments: [
            ("W/\"1\"", "W/\"1\"", false, true), ("W/\"1\"", "W/\"2\"", false, false),
            ("W/\"1\"", "\"1\"", false, true), ("\"1\"", "\"1\"", true, true), ("\"a\"", "\"A\"", false, false),
            // One text in two Unicode forms has different bytes, so the tags differ.
            ("\"\u{E9}\"", "\"e\u{301}\"", false, false),
        ]
    )
    func comparison(_ first: String, _ second: String, isStrong: Bool, isWeak: Bool) throws {
        let (first, second) = (try #require(EntityTag(first)), try #require(EntityTag(second)))
        for (one, other) in [(first, second), (second, first)] {
            #expect(one.stronglyMatches(other) == isStrong)
            #expect(one.weaklyMatches(other) == isWeak)
        }
        #expect((first == second) == (first.fieldValue.utf8.elementsEqual(second.fieldValue.utf8)))
    }

    @Test("a strong tag can be made of the text between the quotes")
    func making() {
        #expect(EntityTag(strong: "a-1_") == EntityTag("\"a-1_\""))
    }

    @Test(
        "a list may have any number of tags, with empty elements between them (§5.6.1.2, §13.1)",
        arguments: [
            ("\"a\"", ["\"a\""]), ("\"a\",\"b\"", ["\"a\"", "\"b\""]), ("\"a\" \t, W/\"b\"", ["\"a\"", "W/\"b\""]),
            (",, \"a\" ,\t,\"b\",", ["\"a\"", "\"b\""]), ("\"a,b\", \"c\"", ["\"a,b\"", "\"c\""]),
            ("\",\",\"*\"", ["\",\"", "\"*\""]), ("", []), (" , ,", []), ("\"a\", \"a\"", ["\"a\"", "\"a\""]),
        ]
    )
    func lists(_ text: String, _ tags: [String]) {
        #expect(EntityTagList(text) == .tags(tags.compactMap { EntityTag($0) }))
    }

    @Test("a single asterisk is read as any", arguments: ["*", " *\t"])
    func asterisk(_ text: String) {
        #expect(EntityTagList(text) == .any)
    }

    @Test(
        "one wrong element makes the whole list invalid",
        arguments: [
            "a", "\"a", "\"a\" b", "\"a\", b", "b, \"a\"", "\"a\" \"b\"", "\"a\"\"b\"", "*, \"a\"", "\"a\", *", ", *",
            "*,",
            "**", "\"a\"; q=1",
        ]
    )
    func invalidLists(_ text: String) {
        #expect(EntityTagList(text) == nil)
    }

    @Test("a list compares strongly or weakly, and only an asterisk matches a missing tag")
    func matching() throws {
        let list = try #require(EntityTagList("\"a\", W/\"b\""))
        #expect(list.stronglyMatches(EntityTag("\"a\"")))
        #expect(!list.stronglyMatches(EntityTag("W/\"a\"")))
        #expect(!list.stronglyMatches(EntityTag("\"b\"")))
        #expect(list.weaklyMatches(EntityTag("W/\"a\"")))
        #expect(list.weaklyMatches(EntityTag("\"b\"")))
        #expect(!list.weaklyMatches(EntityTag("\"c\"")))
        #expect(!list.weaklyMatches(nil))
        #expect(!list.stronglyMatches(nil))
        #expect(EntityTagList.any.weaklyMatches(nil))
        #expect(EntityTagList.any.stronglyMatches(EntityTag("W/\"a\"")))
        #expect(!EntityTagList.tags([]).weaklyMatches(EntityTag("\"a\"")))
    }
}
