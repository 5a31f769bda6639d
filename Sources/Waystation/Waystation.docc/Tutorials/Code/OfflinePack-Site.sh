mkdir site
echo '<!doctype html><title>Shop</title><h1>Open from 9 to 5</h1>' > site/index.html
seq 1 10000 > site/prices.txt
