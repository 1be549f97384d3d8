"""Verdicts recomputed from raw evidence: bytes in, typed facts or one typed fault out."""
