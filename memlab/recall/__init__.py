"""Recall: methods over a store's parts, which never see the store itself."""
