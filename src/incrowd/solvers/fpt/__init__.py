"""Fixed-parameter methods: exact, and fast when few columns and values meet."""
