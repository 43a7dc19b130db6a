#include <postgres.h>

#include "postgres/index/given.h"

#include <utils/hsearch.h>
#include <utils/memutils.h>

#include "postgres/index/status.h"

#define WORDS ((1 << FARVEC_PLACE_BITS) / 64)

struct Given {
  HTAB* pages;
};

typedef struct GivenPage {
  uint64 page;  // generation and block
  uint64 words[WORDS];
} GivenPage;

Given* make_given(void) {
  HASHCTL control = {
      .keysize = sizeof(uint64), .entrysize = sizeof(GivenPage), .hcxt = CurrentMemoryContext};
  Given* given = palloc(sizeof *given);
  given->pages = hash_create("farvec given", 64, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
  return given;
}

bool give(Given* given, uint64 vid) {
  const uint64 key = vid >> FARVEC_PLACE_BITS;
  bool found;
  GivenPage* page = hash_search(given->pages, &key, HASH_ENTER, &found);
  if (!found) memset(page->words, 0, sizeof page->words);
  uint64* word = &page->words[vid_place(vid) / 64];
  const uint64 bit = UINT64CONST(1) << vid_place(vid) % 64;
  const bool is_new = (*word & bit) == 0;
  *word |= bit;
  return is_new;
}

bool was_given(const Given* given, uint64 vid) {
  const uint64 key = vid >> FARVEC_PLACE_BITS;
  const GivenPage* page = hash_search(given->pages, &key, HASH_FIND, NULL);
  return page != NULL && (page->words[vid_place(vid) / 64] >> vid_place(vid) % 64 & 1) != 0;
}
