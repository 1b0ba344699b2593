"""The experiments of the paper, run again and put next to the published figures."""
