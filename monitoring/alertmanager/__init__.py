"""Alertmanager's configuration and message templates, built from the settings."""
