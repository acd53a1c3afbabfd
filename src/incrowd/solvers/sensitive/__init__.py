"""The engine for sensitive models: search by integer laws, bounds by lawful classes' prices."""
