# the repository of Waystation as the folder waystation
git clone … waystation
mkdir app && cd app
swift package init --type executable
rm -rf Tests
