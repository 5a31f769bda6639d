waystation publish shop-1.0.zip --to releases --key release.key
waystation list --to releases
