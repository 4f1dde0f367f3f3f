"""What prefix caching brings: measured with vLLM's own load generator."""
