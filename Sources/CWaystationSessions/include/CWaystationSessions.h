// Both functions are defined in Swift, by WaystationTesting; the getters in Sessions.c call them.

/// Gets each configuration that `URLSessionConfiguration.default` or `.ephemeral` returns, before its caller does.
void waystation_configuration_was_made(void *configuration);

/// Gets the session that `URLSession.shared` returns, before its caller does.
void waystation_shared_session_was_asked(void *session);
