# %% [wrong] takes a shift to bind more tightly than a sum
# - 2 * (lane % 4) + reg % 2
# + lane % 4 << 1 + reg % 2

# %% [right]
def index_of_sums(pitch):
    return f"(lane / 4 + reg / 2 * 8) * {pitch} + (lane % 4) * 2 + (reg % 2)"

# %% [right]
def index_of_sums(pitch):
    g, t = "(lane >> 2)", "(lane & 3)"
    return f"{g} * {pitch} + (reg >> 1) * {8 * pitch} + 2 * {t} + (reg & 1)"

# %% [right]
def index_of_sums(pitch):
    return f" {pitch}*((lane - lane % 4)/4 + 4*(reg - reg % 2)) + (lane % 4 + lane % 4) + reg % 2 "

# %% [wrong] takes the comment sign of C++ for a quotient
def index_of_sums(pitch):
    return f"{pitch} * (lane // 4 + 8 * (reg // 2)) + 2 * (lane % 4) + reg % 2"

# %% [wrong] leaves pitch as a name
def index_of_sums(pitch):
    return "pitch * (lane / 4 + 8 * (reg / 2)) + 2 * (lane % 4) + reg % 2"

# %% [wrong] returns a number for lane 0
def index_of_sums(pitch):
    return 0

# %% [wrong] forgets the rows from 8 on
def index_of_sums(pitch):
    return f"{pitch} * (lane / 4) + 2 * (lane % 4) + reg % 2"

# %% [wrong] swaps the two bits of the register's number
def index_of_sums(pitch):
    return f"{pitch} * (lane / 4 + 8 * (reg % 2)) + 2 * (lane % 4) + reg / 2"

# %% [wrong] adds the row's 8 outside the product with the pitch
def index_of_sums(pitch):
    return f"{pitch} * (lane / 4) + 8 * (reg / 2) + 2 * (lane % 4) + reg % 2"

# %% [wrong] has one bracket too few
def index_of_sums(pitch):
    return f"{pitch} * (lane / 4 + 8 * (reg / 2) + 2 * (lane % 4) + reg % 2"

# %% [wrong] writes a semicolon behind the expression
def index_of_sums(pitch):
    return f"{pitch} * (lane / 4 + 8 * (reg / 2)) + 2 * (lane % 4) + reg % 2;"

# %% [right]
def index_of_sums(pitch):
    return f"{pitch} * ((lane >> 2) + ((reg & 2) << 2)) + ((lane & 3) << 1 | reg & 1)"

# %% [wrong] compares, which is outside of the list of operators
def index_of_sums(pitch):
    row, sequence = "(lane / 4 + 8 * (reg > 1))", "(2 * (lane % 4) + (reg & 1))"
    return "%d * %s + %s" % (pitch, row, sequence)

# %% [wrong] takes the choice of C++, which is outside of the list of operators
def index_of_sums(pitch):
    return f"reg < 2 ? {pitch} * (lane / 4) + lane % 4 * 2 + reg : {pitch} * (lane / 4 + 8) + lane % 4 * 2 + reg - 2"

# %% [right]
def index_of_sums(pitch):
    return str(8 * pitch) + "*(reg/2)+reg%2+lane%4*2+lane/4*" + str(pitch)

# %% [right]
def index_of_sums(pitch):
    return f"({pitch} * (lane - lane % 4 + reg / 2 * 32)) / 4 + (lane % 4 + lane % 4) + reg - 2 * (reg / 2)"

# %% [wrong] swaps g and t in the lane's number
def index_of_sums(pitch):
    return f"{pitch} * (lane % 4 + 8 * (reg / 2)) + 2 * (lane / 4) + reg % 2"

# %% [wrong] swaps the two bits of the register's number
def index_of_sums(pitch):
    return f"{pitch} * (lane / 4 + 8 * (reg % 2)) + 2 * (lane % 4) + reg / 2"

# %% [wrong] forgets parentheses, so that pitch * lane is divided
def index_of_sums(pitch):
    return f"{pitch} * lane / 4 + {pitch} * 8 * (reg / 2) + 2 * (lane % 4) + reg % 2"

# %% [wrong] stores columns instead of rows
def index_of_sums(pitch):
    return f"lane / 4 + 8 * (reg / 2) + {pitch} * (2 * (lane % 4) + reg % 2)"

# %% [wrong] forgets that a lane has two sequences side by side
def index_of_sums(pitch):
    return f"{pitch} * (lane / 4 + 8 * (reg / 2)) + lane % 4 + reg % 2"

# %% [wrong] multiplies before it divides: reg * 8 / 2
def index_of_sums(pitch):
    return f"{pitch} * (lane / 4 + reg * 8 / 2) + 2 * (lane % 4) + reg % 2"

# %% [wrong] assumes rows of 8 numbers without a gap
def index_of_sums(pitch):
    return "8 * (lane / 4 + 8 * (reg / 2)) + 2 * (lane % 4) + reg % 2"

# %% [wrong] shifts after the addition, because + binds more tightly than >>
def index_of_sums(pitch):
    return f"{pitch} * (8 * (reg >> 1) + lane >> 2) + 2 * (lane & 3) + (reg & 1)"

# %% [right]
def index_of_sums(pitch):
    terms = [f"(lane >> 2) * {pitch}", f"(reg >> 1) * {8 * pitch}", "(lane & 3) * 2", "(reg & 1)"]
    return "\n  + ".join(terms)
