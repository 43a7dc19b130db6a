// Functions that the extension looks for in libfarvec.so and the tests over a stub never call.
#include <stdlib.h>

#define UNUSED(name)         \
  void farvec_##name(void);  \
  void farvec_##name(void) { \
    abort();                 \
  }

UNUSED(results_counts)
UNUSED(cursor_open)
UNUSED(cursor_next)
UNUSED(cursor_free)
UNUSED(insert)
UNUSED(erase)
UNUSED(erase_matching)
UNUSED(get)
UNUSED(list)
UNUSED(rows_count)
UNUSED(rows_found)
UNUSED(rows_id)
UNUSED(rows_vector)
UNUSED(rows_matches)
UNUSED(rows_free)
