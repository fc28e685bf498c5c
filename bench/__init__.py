"""Fair measurement: results agree before a clock starts, candidates take turns, medians are compared."""
