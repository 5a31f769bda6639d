echo '<!doctype html><title>Shop</title><h1>Open from 8 to 6</h1>' > site/index.html
waystation pack build site --module shop --pack-version 1.1 --base-url https://shop.example/app/ -o shop-1.1.zip
waystation publish shop-1.1.zip --to releases --key release.key
