"""Pictures of stores: a graph as a page or a drawing, from the outside, by reading only."""
