// The distances of PostgreSQL's own type bit.
#include <postgres.h>

#include <port/pg_bitutils.h>
#include <utils/varbit.h>

#include "postgres/vector.h"

PG_FUNCTION_INFO_V1(farvec_hamming_distance);
PG_FUNCTION_INFO_V1(farvec_jaccard_distance);

typedef struct BitCounts {
  uint64 different;
  uint64 in_both;
  uint64 in_either;
} BitCounts;

static void count_word(BitCounts* counts, uint64 left, uint64 right) {
  counts->different += (uint64)pg_popcount64(left ^ right);
  counts->in_both += (uint64)pg_popcount64(left & right);
  counts->in_either += (uint64)pg_popcount64(left | right);
}

// Bits after the last one of a value are zero, which PostgreSQL sees to.
static BitCounts counts_of(FunctionCallInfo fcinfo) {
  VarBit* left = PG_GETARG_VARBIT_P(0);
  VarBit* right = PG_GETARG_VARBIT_P(1);
  if (VARBITLEN(left) != VARBITLEN(right)) {
    ereport(ERROR, (errcode(ERRCODE_DATA_EXCEPTION),
                    errmsg("%d bits meet %d", VARBITLEN(left), VARBITLEN(right))));
  }
  const Size bytes = VARBITBYTES(left);
  BitCounts counts = {0, 0, 0};
  for (Size i = 0; i < bytes; i += sizeof(uint64)) {
    const Size size = Min(sizeof(uint64), bytes - i);
    uint64 a = 0;
    uint64 b = 0;
    memcpy(&a, VARBITS(left) + i, size);
    memcpy(&b, VARBITS(right) + i, size);
    count_word(&counts, a, b);
  }
  PG_FREE_IF_COPY(left, 0);
  PG_FREE_IF_COPY(right, 1);
  return counts;
}

Datum farvec_hamming_distance(PG_FUNCTION_ARGS) {
  PG_RETURN_FLOAT8((float8)counts_of(fcinfo).different);
}

// 1 where neither has any bit, since they share none.
Datum farvec_jaccard_distance(PG_FUNCTION_ARGS) {
  const BitCounts counts = counts_of(fcinfo);
  if (counts.in_both == 0) PG_RETURN_FLOAT8(1);
  PG_RETURN_FLOAT8(1 - (float8)counts.in_both / (float8)counts.in_either);
}
