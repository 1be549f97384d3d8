"""Checks of patch functions that anybody can run every day: markers, signature, header, reflection, imports."""
