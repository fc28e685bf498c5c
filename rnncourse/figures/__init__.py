"""Figures: what all pictures share."""
