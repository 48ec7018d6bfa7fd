/* Dense tensors as ck_tile describes them; included after the library. */
#ifndef CK_STRIDES_H
#define CK_STRIDES_H
#include "kernel.h"

namespace
{

struct strides {
	ck_tile::index_t batch, head, row;
};

ck_tile::index_t to_index(int64_t n)
{
	return static_cast<ck_tile::index_t>(n);
}

strides dense(int64_t rows, int64_t heads, int64_t d) /* [batch][rows][heads][d] */
{
	return {to_index(rows * heads * d), to_index(d), to_index(heads * d)};
}

} // namespace

#endif
