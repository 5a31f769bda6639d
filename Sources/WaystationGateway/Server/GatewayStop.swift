#if Gateway
/// The event that a connection ends after its present request.
struct GatewayStop: Sendable {}
#endif
