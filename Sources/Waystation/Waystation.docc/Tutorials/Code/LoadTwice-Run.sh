swift run app https://www.swift.org/
# … bytes in … seconds
# Cache-Status: Waystation; fwd=uri-miss; fwd-status=200; stored
