"""The demo: a story that makes both alerts fire and resolve, on the real chain."""
