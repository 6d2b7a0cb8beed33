"""Data sets for measuring recall: read from their native files, of memlab's own, or made to size."""
