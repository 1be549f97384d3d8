import other.always
import other.fresh
import other.sometimes
