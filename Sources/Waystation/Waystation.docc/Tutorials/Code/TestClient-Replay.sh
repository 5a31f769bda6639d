# after the server was stopped
WAYSTATION_RECORD=replay swift test
