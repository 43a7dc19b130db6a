// An engine compares status pages with what it has.
#include <postgres.h>

#include "postgres/index/engine_store.h"
#include "postgres/index/index.h"

static uint32 flags_of(const StorePass* pass, bool is_first, bool is_last) {
  return (pass->begins && is_first ? ASK_PASS_BEGINS : 0) |
         (pass->ends && is_last ? ASK_PASS_ENDS : 0);
}

// Asks with pages that fit a request.
static bool ask_pages(EngineLink* link, const AskLacks* asked, const StorePage* pages,
                      StoreBits* lacks, Patience* patience, farvec_error* error) {
  StaticAssertStmt(sizeof *pages == sizeof(AskPage) && sizeof *lacks == sizeof(AskBits) &&
                       FARVEC_PLACE_BITS == ASK_PLACE_BITS,
                   "pages are asked for as they are");
  StaticAssertStmt(sizeof *asked + ASK_MOST_PAGES * sizeof *pages <= CHANNEL_REQUEST_BYTES &&
                       ASK_MOST_PAGES * sizeof *lacks <= CHANNEL_ANSWER_BYTES,
                   "the pages of a request fit");
  uint32 bytes;
  char* to = engine_request(link, patience, error);
  if (to == NULL) return false;
  memcpy(to, asked, sizeof *asked);
  memcpy(to + sizeof *asked, pages, asked->count * sizeof *pages);
  if (!engine_ask(link, kAskLacks, (uint32)(sizeof *asked + asked->count * sizeof *pages), patience,
                  &bytes, error)) {
    return false;
  }
  if (bytes != asked->count * sizeof *lacks) {
    elog(ERROR, "the engine of farvec answers for other pages");
  }
  memcpy(lacks, link->answer, bytes);
  return true;
}

void lacks_in_engine(Store* store, const StorePage* pages, size_t count, const StorePass* pass,
                     StoreBits* lacks, Patience* patience) {
  farvec_error error = {0};
  size_t at = 0;
  do {
    const size_t part = Min(count - at, ASK_MOST_PAGES);
    const AskLacks asked = {.index = store->index,
                            .from = pass->from,
                            .until = pass->until,
                            .number = pass->number,
                            .count = (uint32)part,
                            .pass = flags_of(pass, at == 0, at + part == count)};
    EngineLink* link = reach_engine(store, patience, &error);
    if (link == NULL || !ask_pages(link, &asked, pages + at, lacks + at, patience, &error)) {
      raise_engine_error(&error, patience);
    }
    at += part;
  } while (at < count);
}
