"""Frames of memories and associations made by hand, for tests of what is drawn from them."""

import pandas as pd

NASTY = ["<script>window.pwned=1</script>", "</script><img src=x onerror=window.pwned=1>", "<!--<script>", "href='x'"]


def memories(count: int, **columns: object) -> pd.DataFrame:
    """Memories m0, m1, … with further columns as given."""
    ids = [f"m{i}" for i in range(count)]
    return pd.DataFrame({"memory_id": ids, "content": [f"Memory {i}." for i in range(count)]}).assign(**columns)


def links(*triples: tuple[str, str, str], **columns: object) -> pd.DataFrame:
    """Associations with further columns as given."""
    return pd.DataFrame(list(triples), columns=["source", "relation", "target"]).assign(**columns)
