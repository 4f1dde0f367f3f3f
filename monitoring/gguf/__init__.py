"""Tiny models in GGUF, to try how a server loads such a file without a download."""
