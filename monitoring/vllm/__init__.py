"""The bundled vLLM server: its tiny model, its command line, its own environment."""
