"""Programs that run inside another interpreter: standard library only, from Python 3.10 on, one line of JSON each."""
