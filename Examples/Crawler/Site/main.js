document.title += "."
