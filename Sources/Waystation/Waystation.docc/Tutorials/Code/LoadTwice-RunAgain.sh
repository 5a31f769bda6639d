# without a network
swift run app https://www.swift.org/
# … bytes in … seconds
# Cache-Status: Waystation; hit; ttl=604800
