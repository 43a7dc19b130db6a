// Searches in the server's engine. More rows come from searching again for twice as many
// (docs/decisions/053): the engine keeps nothing for a search.
#include <postgres.h>

#include <math.h>
#include <utils/hsearch.h>
#include <utils/memutils.h>

#include "postgres/index/engine_store.h"
#include "postgres/index/index.h"

// A search for fewer rows costs as much.
#define LEAST_AGAIN 50

struct StoreSearch {
  Store* store;
  void* query;
  char* filter;       // empty: there is none
  uint32 k;           // wanted of the next search
  uint32 list;        // the least
  bool has_asked;     // the first search was answered
  bool is_last;       // no further search finds more
  HTAB* given;        // VIDs; NULL before there is a second search, unless rows are counted
  StoreFound* found;  // what the last search found that was not given; room for ASK_MOST_FOUND
  size_t count;
  size_t at;
  farvec_counts counts;
};

static uint32 within_bounds(uint32 number) {
  return Max(Min(number, ASK_MOST_ROWS), 1);
}

static HTAB* make_vid_set(void) {
  HASHCTL control = {
      .keysize = sizeof(uint64), .entrysize = sizeof(uint64), .hcxt = CurrentMemoryContext};
  return hash_create("farvec given", 64, &control, HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
}

StoreSearch* search_engine(Store* store, const void* query, const StoreSearchOptions* options) {
  const Size bytes = vector_size(&store->shape);
  StoreSearch* search = palloc0(sizeof *search);
  search->store = store;
  search->query = palloc(bytes);
  memcpy(search->query, query, bytes);
  search->filter = pstrdup(options->filter == NULL ? "" : options->filter);
  // A list of these candidates costs as much when it gives most of them, so that a scan for more
  // rows than it asked for at first needs no second search.
  search->k = within_bounds(Max(options->k, options->list - options->list / 3));
  search->list = within_bounds(options->list);
  // Where all rows that meet a condition were given is known by their number.
  search->given = *search->filter == '\0' ? NULL : make_vid_set();
  search->found = palloc(ASK_MOST_FOUND * sizeof *search->found);
  search->counts.size = sizeof search->counts;
  search->counts.matches = kNotKnown;
  return search;
}

static bool write_and_ask(StoreSearch* search, EngineLink* link, Patience* patience, uint32* bytes,
                          farvec_error* error) {
  const Size query_bytes = vector_size(&search->store->shape);
  const Size filter_bytes = strlen(search->filter);
  const uint32 longer = within_bounds(search->k + search->k / 2);
  const AskSearch asked = {.index = search->store->index,
                           .k = search->k,
                           .list = Max(search->list, longer),
                           .query_bytes = (uint32)query_bytes,
                           .filter_bytes = (uint32)filter_bytes,
                           .deadline_ms = wait_of(patience).deadline_ms};
  if (sizeof asked + query_bytes + filter_bytes > CHANNEL_REQUEST_BYTES) {
    error->status = FARVEC_INVALID_ARGUMENT;
    strlcpy(error->message, "the filter is too long", sizeof error->message);
    return false;
  }
  char* to = engine_request(link, patience, error);
  if (to == NULL) return false;
  memcpy(to, &asked, sizeof asked);
  memcpy(to + sizeof asked, search->query, query_bytes);
  memcpy(to + sizeof asked + query_bytes, search->filter, filter_bytes);
  return engine_ask(link, kAskSearch, (uint32)(sizeof asked + query_bytes + filter_bytes), patience,
                    bytes, error);
}

static void add_counts(StoreSearch* search, const ToldFound* told) {
  search->counts.hops += told->hops;
  search->counts.reads += told->reads;
  search->counts.bytes += told->bytes;
  search->counts.estimates += told->estimates;
  search->counts.distances += told->distances;
  search->counts.walks += told->walks;
  search->counts.scans += told->scans;
  // Rows may go between two searches: only one that gives all of its moment's rows knows that.
  search->counts.matches = told->count >= told->matches ? told->matches : kNotKnown;
}

// Answers false where it was noted before.
static bool note(StoreSearch* search, uint64 vid) {
  bool was_given;
  hash_search(search->given, &vid, HASH_ENTER, &was_given);
  return !was_given;
}

static void add_found(StoreSearch* search, uint64 vid, float distance) {
  if (search->given != NULL && !note(search, vid)) return;
  search->found[search->count++] = (StoreFound){vid, distance};
}

// Before a second search: most scans need none.
static void note_first_found(StoreSearch* search) {
  if (search->given != NULL) return;
  search->given = make_vid_set();
  for (size_t i = 0; i < search->count; i++) note(search, search->found[i].vid);
}

// Takes the rows of an answer, after looking whether it can be one.
static void take_found(StoreSearch* search, const EngineLink* link, uint32 bytes) {
  ToldFound told;
  if (bytes < sizeof told) elog(ERROR, "the engine of farvec answers with too few bytes");
  memcpy(&told, link->answer, sizeof told);
  const Size row_bytes = sizeof(uint64) + sizeof(float);
  if (told.count > ASK_MOST_FOUND || bytes != sizeof told + told.count * row_bytes) {
    elog(ERROR, "the engine of farvec answers with %u rows in %u bytes", told.count, bytes);
  }
  const char* vids = link->answer + sizeof told;
  const char* distances = vids + told.count * sizeof(uint64);
  search->count = 0;
  search->at = 0;
  for (uint32 i = 0; i < told.count; i++) {
    uint64 vid;
    float distance;
    memcpy(&vid, vids + i * sizeof vid, sizeof vid);
    memcpy(&distance, distances + i * sizeof distance, sizeof distance);
    if (isnan(distance)) elog(ERROR, "the engine of farvec answers with a distance that is none");
    add_found(search, vid, distance);
  }
  add_counts(search, &told);
  search->is_last = told.complete == 1 || search->k == ASK_MOST_ROWS;
}

// An index that was closed meanwhile, and opened again, has to catch up.
static bool is_not_ready(StoreSearch* search, const farvec_error* error) {
  if (error->status != FARVEC_FAILED_PRECONDITION && error->status != FARVEC_NOT_FOUND)
    return false;
  search->store->ready_in = 0;
  return !search->has_asked;
}

// Answers false where the index has to catch up before the first search.
static bool search_again(StoreSearch* search, Patience* patience) {
  farvec_error error = {0};
  uint32 bytes;
  EngineLink* link = reach_engine(search->store, patience, &error);
  if (link == NULL || !write_and_ask(search, link, patience, &bytes, &error)) {
    if (is_not_ready(search, &error)) return false;
    raise_engine_error(&error, patience);
  }
  if (search->has_asked) note_first_found(search);
  search->has_asked = true;
  take_found(search, link, bytes);
  search->k = within_bounds(Max(2 * search->k, LEAST_AGAIN));
  return true;
}

size_t next_of_engine(StoreSearch* search, StoreFound* found, size_t most, Patience* patience) {
  size_t count = 0;
  while (count < most) {
    if (search->at < search->count) {
      found[count++] = search->found[search->at++];
    } else if (!search->is_last) {
      if (!search_again(search, patience)) return kStoreNotReady;
    } else {
      break;
    }
  }
  return count;
}

void counts_of_engine(const StoreSearch* search, farvec_counts* counts) {
  *counts = search->counts;
}
