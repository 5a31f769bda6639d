swift run app
# <!doctype html><title>Shop</title><h1>Open from 9 to 5</h1>
