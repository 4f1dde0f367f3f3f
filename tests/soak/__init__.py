"""An hour of the exporter beside a real vLLM that is killed, hangs and comes back."""
