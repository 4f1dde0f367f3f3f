"""Alerts as code: one catalogue of definitions, one settings file, rendered for each consumer."""
