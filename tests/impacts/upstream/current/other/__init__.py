import os

if os.getenv("BALANCE"):
    import other.sometimes
import other.always
