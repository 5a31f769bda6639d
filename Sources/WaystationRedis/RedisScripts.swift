#if Redis
/// The steps that must not be interrupted, as scripts that the server runs.
enum RedisScripts {
    /// Removes a key whose value is the argument.
    static let remove = "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0"

    /// Removes a key, and makes a change also if the key has no value.
    ///
    /// In Valkey, and in Redis since 7.2, `WAIT` waits for the last change of its own connection. After a removal that
    /// changes nothing, it would not wait for the earlier removal of another connection.
    static let removeByChange = """
        local n = redis.call('DEL', KEYS[1])
        if n == 0 then
            redis.call('SET', KEYS[1], '')
            redis.call('DEL', KEYS[1])
        end
        return n
        """

    /// Removes a key whose value is longer than the argument.
    static let removeLong = """
        local v = redis.call('GET', KEYS[1])
        if v and #v > tonumber(ARGV[1]) then return redis.call('DEL', KEYS[1]) end
        return 0
        """

    /// Makes the number of a channel if it has none, and returns it.
    ///
    /// The first number is the time in microseconds: so it is greater than any that was lost.
    static let number = """
        local n = redis.call('GET', KEYS[1])
        if n then return n end
        local t = redis.call('TIME')
        n = string.format('%d%06d', t[1], t[2])
        redis.call('SET', KEYS[1], n)
        return n
        """

    /// Gives the argument the next number of a channel, and sends it.
    static let publish = """
        local n
        if redis.call('EXISTS', KEYS[1]) == 1 then
            redis.call('INCR', KEYS[1])
            n = redis.call('GET', KEYS[1])
        else
            local t = redis.call('TIME')
            n = string.format('%d%06d', t[1], t[2])
            redis.call('SET', KEYS[1], n)
        end
        redis.call('PUBLISH', ARGV[1], n .. '\\n' .. ARGV[2])
        return n
        """
}
#endif
