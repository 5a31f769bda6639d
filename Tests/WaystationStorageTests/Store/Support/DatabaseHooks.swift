import CWaystation.SQLite

@testable import WaystationStorage

/// The closure that a function of SQLite calls.
private final class Context<Input, Output> {
    let body: (Input) -> Output

    init(_ body: @escaping (Input) -> Output) { self.body = body }
}

extension Database {
    /// Calls `body` with the text of each statement that begins to run, as long as the process runs.
    func trace(_ body: @escaping (String) -> Void) {
        sqlite3_trace_v2(
            handle,
            CUnsignedInt(SQLITE_TRACE_STMT),
            { _, context, _, text in
                guard let context, let text else { return 0 }
                let statement = String(cString: text.assumingMemoryBound(to: CChar.self))
                Unmanaged<Context<String, Void>>.fromOpaque(context).takeUnretainedValue().body(statement)
                return 0
            },
            Unmanaged.passRetained(Context(body)).toOpaque()
        )
    }

    /// Adds an SQL function of one text, which fails with the result code of `body`.
    func addCheck(_ name: String, _ body: @escaping (String) -> CInt) {
        sqlite3_create_function_v2(
            handle,
            name,
            1,
            SQLITE_UTF8,
            Unmanaged.passRetained(Context(body)).toOpaque(),
            { call, _, values in
                guard let context = sqlite3_user_data(call), let text = sqlite3_value_text(values?[0]) else { return }
                let check = Unmanaged<Context<String, CInt>>.fromOpaque(context).takeUnretainedValue()
                let code = check.body(String(cString: text))
                if code != SQLITE_OK { sqlite3_result_error_code(call, code) }
            },
            nil,
            nil,
            { context in
                if let context { Unmanaged<Context<String, CInt>>.fromOpaque(context).release() }
            }
        )
    }
}
