"""Running benchmarks and measuring what came back."""
