"""Random pages and configuration files for the exporter."""
