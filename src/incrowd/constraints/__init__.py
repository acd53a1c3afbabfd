"""What a release must leave alone: fixed columns, linked columns, caps on changed cells."""
