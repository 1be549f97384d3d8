"""The workbook's tables: rows as values, read from any source, checked against the frozen commits, judged."""
