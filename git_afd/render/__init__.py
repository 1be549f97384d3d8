"""An Outcome as text, JSON, Markdown or HTML. Decides nothing."""
