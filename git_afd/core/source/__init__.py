"""Python sources as facts: what a module defines, imports and exports, without importing anything."""
