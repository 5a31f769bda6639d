#if Gateway
import WaystationRecording

extension Redaction {
    /// A message, whose URLs are written without secrets.
    func text(_ text: String) -> String { text.replacing(#/[A-Za-z]+:\/\/[^\s“”]+/#) { url(String($0.output)) } }
}
#endif
