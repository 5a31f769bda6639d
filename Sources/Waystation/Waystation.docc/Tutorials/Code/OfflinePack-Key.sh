waystation keys generate -o release.key > release.pub
