public import Foundation

/// A message of a channel of a ``SharedTier``.
public struct TierMessage: Hashable, Sendable {
    /// The number of the message in its channel.
    public let number: UInt64
    /// The content, as it was published.
    public let content: Data

    /// Makes a message.
    public init(number: UInt64, content: Data) {
        self.number = number
        self.content = content
    }
}

/// The messages of a channel from one moment on.
public struct TierSubscription: Sendable {
    /// The number of the last message before the first one of ``messages``.
    ///
    /// Messages up to this number may also be in ``messages``, because the subscription begins before the number is
    /// read. If the channel has had no message, or if the tier has lost the number, it is a number that no message has
    /// had.
    public let lastNumber: UInt64
    /// The messages; the stream ends, with or without an error, when the tier can no longer deliver all of them.
    public let messages: AsyncThrowingStream<TierMessage, any Error>

    /// Makes a subscription.
    public init(lastNumber: UInt64, messages: AsyncThrowingStream<TierMessage, any Error>) {
        self.lastNumber = lastNumber
        self.messages = messages
    }
}
