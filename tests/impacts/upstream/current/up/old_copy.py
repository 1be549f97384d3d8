def copied_long_ago(batch):
    kept = list(batch)
    for item in kept:
        store(item)
    return kept
