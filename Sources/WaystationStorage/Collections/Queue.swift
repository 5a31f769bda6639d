/// A queue: values are removed in the order in which they were added.
///
/// Adding and removing take constant time on average. Other modules compile it for their own elements (`@inlinable`);
/// without that, each call would look up the type of its elements.
package struct Queue<Element>: ExpressibleByArrayLiteral {
    /// The values; those before `first` have been removed.
    @usableFromInline var elements: [Element?]
    @usableFromInline var first = 0

    @inlinable package init(arrayLiteral elements: Element...) { self.elements = elements }

    @inlinable package var isEmpty: Bool { first == elements.count }

    /// Adds a value at the end.
    @inlinable package mutating func append(_ element: Element) { elements.append(element) }

    /// Removes and returns the value that was added first; returns `nil` if the queue is empty.
    @inlinable package mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        let element = elements[first].take()
        first += 1
        if first > 16, first > elements.count / 2 {
            elements.removeFirst(first)
            first = 0
        }
        return element
    }
}

extension Queue: Sendable where Element: Sendable {}
