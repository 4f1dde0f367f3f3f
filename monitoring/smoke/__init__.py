"""Does it serve right: a short examination of a running server."""
