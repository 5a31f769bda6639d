swift test
ls Tests/WeatherTests/Recordings/forecast
# recorded.bodies  recorded.har
