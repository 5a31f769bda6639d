#if Gateway
import WaystationRecording

extension Redaction {
    /// A message, whose URLs are written without secrets.
    func text(_ text: String) -> String {
        text.replacing(#/[A-Za-z][A-Za-z0-9+.\-]*:\/\/[^\s“”]+/#) { url(String($0.output)) }
    }
}
#endif
