/// A transport that sends a body while the rest of it is still arriving, and blocks no thread meanwhile.
///
/// Other transports get a request when its whole body is there: Foundation reads streams on the queue that all sessions
/// share, where a stream that waits stops every load.
package protocol BodyAwaitingTransport: Transport {}
