import up.core
import up.pump


def helper(a): ...


up.core.helper = helper
up.pump.seam_pair = helper
