"""One launch of the simulator, step by step: record (data), still (a picture), page (HTML)."""
