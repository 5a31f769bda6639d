# the repository of Waystation as the folder waystation
git clone … waystation
mkdir weather && cd weather
swift package init --type library --name Weather
mv Sources/Weather/Weather.swift Sources/Weather/WeatherClient.swift
