waystation pack build site --module shop --pack-version 1.0 --base-url https://shop.example/app/ -o shop-1.0.zip
waystation pack verify shop-1.0.zip
