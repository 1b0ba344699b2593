"""Helpers for all other packages; nothing here imports one of them."""
