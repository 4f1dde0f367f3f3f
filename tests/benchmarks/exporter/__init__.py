"""What a scrape of the exporter costs, beside the obvious alternatives."""
