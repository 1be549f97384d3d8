SAME = "up.same"
ELSEWHERE = "up.elsewhere"
GONE = "up.gone"
OTHER = "up.other"
