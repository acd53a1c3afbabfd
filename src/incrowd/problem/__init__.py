"""What is to be solved: distinct rows as codes, a model, and an assignment to classes."""
