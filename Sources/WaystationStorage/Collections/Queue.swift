/// A queue: values are removed in the order in which they were added.
///
/// Adding and removing take constant time on average.
package struct Queue<Element>: ExpressibleByArrayLiteral {
    /// The values; those before `first` have been removed.
    private var elements: [Element?]
    private var first = 0

    package init(arrayLiteral elements: Element...) { self.elements = elements }

    package var isEmpty: Bool { first == elements.count }

    /// Adds a value at the end.
    package mutating func append(_ element: Element) { elements.append(element) }

    /// Removes and returns the value that was added first; returns `nil` if the queue is empty.
    package mutating func popFirst() -> Element? {
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
