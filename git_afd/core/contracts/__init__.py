"""What the plugin relies on upstream: contracts, found in its sources without importing anything."""
