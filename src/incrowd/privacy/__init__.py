"""Privacy models: one per file, each a frozen value with one plain definition."""
