"""How figures read: costs in their units, tables of figures. Which version this is."""
