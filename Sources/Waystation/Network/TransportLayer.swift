package import WaystationTransport

/// A transport of a rule that sends requests on by the network of their session, such as one with faults.
package protocol TransportLayer: Transport {
    /// The transport that sends requests by this network.
    func over(_ network: any Transport) -> any Transport
}
