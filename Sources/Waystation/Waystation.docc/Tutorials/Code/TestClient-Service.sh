mkdir -p service/weather
echo '{"place": "Bonn", "celsius": 17.5}' > service/weather/Bonn
