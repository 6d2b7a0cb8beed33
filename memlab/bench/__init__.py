"""What the bench commands run: each prints a table and can write its figures as JSON."""
