#if Gateway
/// Tells a connection to close after its present request.
struct GatewayStop: Sendable {}
#endif
