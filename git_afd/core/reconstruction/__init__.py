"""Method-level reconstruction: the exact target function as the skeleton, the plugin's marked blocks replayed in it."""
