/// A value that is encoded without code of the test.
protocol PlainValue: Encodable {}

extension String: PlainValue {}
extension Int: PlainValue {}
extension Double: PlainValue {}
extension Bool: PlainValue {}
extension JSONValue: PlainValue {}
extension Optional: PlainValue where Wrapped: PlainValue {}
extension Array: PlainValue where Element: PlainValue {}
extension Dictionary: PlainValue where Key == String, Value: PlainValue {}
