# the repository of Waystation as the folder waystation
git clone … waystation
swift build --package-path waystation -c release --product waystation
export PATH="$PWD/waystation/.build/release:$PATH"
mkdir shop && cd shop
