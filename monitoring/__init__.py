"""Runs the chain from a vLLM server to a notification on somebody's screen, and sets it up."""
