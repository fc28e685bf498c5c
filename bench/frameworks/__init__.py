"""Networks beside the frameworks whose weights they read; `python -m bench.frameworks` writes the page."""
