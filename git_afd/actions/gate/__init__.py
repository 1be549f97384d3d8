"""``git afd gate static|native|basic|accuracy``: enter, carry out, judge, record."""
