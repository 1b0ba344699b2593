"""Helpers that every room uses. Nothing here imports another room."""
