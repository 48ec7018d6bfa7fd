"""The order in which clusters work off the tiles of C."""


def tile_of(index, rank, rows, columns, group, cluster, smaller):
    """Row and column of the tile of block `rank` in the cluster tile number `index`, of rows x
    columns cluster tiles. `group` rows are worked off together, column by column. `smaller`: the
    smaller of two numbers, which may be the compiler's."""
    width = group * columns
    first = index // width * group
    height = smaller(rows - first, group)
    row = first + index % width % height
    column = index % width // height
    return row * cluster[0] + rank % cluster[0], column * cluster[1] + rank // cluster[0]
