# What a script raises is the failure of its step.
if what in soldOut:
    raise RuntimeError("no " + what + " left")
text = what + " booked"
