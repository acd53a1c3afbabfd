"""How figures read: costs in their units, tables of figures."""
