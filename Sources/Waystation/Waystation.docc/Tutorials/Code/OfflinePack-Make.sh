swift package init --type executable --name app
rm -rf Tests
