"""The main engine: any k, suppression and hierarchies, weights; see ``engine.Engine``."""
