"""Plots of what a fitted model did."""
