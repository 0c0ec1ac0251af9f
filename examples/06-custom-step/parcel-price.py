import math

# The inputs of the step are variables here, and every variable that is left at the end is in its result.
litres = math.ceil(length * width * height / 1000)
price = round(2.5 + litres * 1000 * rate, 2)
