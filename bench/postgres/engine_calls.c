// Asks a server's engine through its channel for the nearest rows of an index, without PostgreSQL.
//
//   engine_calls SEGMENT DATABASE FILE QUERIES.fbin FIRST COUNT PASSES K LIST > OUT
//
// DATABASE and FILE are PostgreSQL's numbers of the index's files. One call comes after the other.
// OUT has the microseconds from the first call to the end of the last, those of each call (COUNT *
// PASSES doubles), and the distances of each call (K doubles each, infinity where there were fewer
// rows), as the engine computes them.
#include <math.h>

#include "postgres/channel/call.h"
#include "postgres/channel/requests.h"
#include "timed_client.h"

static const CallWait kPatience = {.deadline_ms = 60000};
static char answer[CHANNEL_ANSWER_BYTES];
static uint32_t answer_bytes;

typedef struct Asker {
  Channel* channel;
  uint32_t slot;
} Asker;

static void ask(Asker* asker, uint32_t operation, const void* request, uint32_t bytes,
                const void* more, uint32_t more_bytes) {
  int32_t status = call_prepare(asker->channel, asker->slot, &kPatience);
  answer_bytes = 0;
  if (status == kCallDone) {
    char* to = channel_request(asker->channel, asker->slot);
    memcpy(to, request, bytes);
    if (more_bytes > 0) memcpy(to + bytes, more, more_bytes);
    status = call_ask(asker->channel, asker->slot, operation, bytes + more_bytes, &kPatience,
                      answer, &answer_bytes);
  }
  if (status != kCallDone) {
    answer[answer_bytes < sizeof answer ? answer_bytes : sizeof answer - 1] = '\0';
    die("the engine", answer_bytes > 0 ? answer : "does not answer");
  }
}

static AskedIndex find_index(Asker* asker, uint32_t database, uint32_t file) {
  AskList asked = {{0, 0, 0, 0, 0}};
  ToldList told;
  do {
    ask(asker, kAskList, &asked, sizeof asked, NULL, 0);
    if (answer_bytes < sizeof told) die("the engine", "lists too few bytes");
    memcpy(&told, answer, sizeof told);
    if (answer_bytes != sizeof told + told.count * sizeof(AskedIndex)) {
      die("the engine", "lists other bytes");
    }
    for (uint32_t i = 0; i < told.count; i++) {
      memcpy(&asked.after, answer + sizeof told + i * sizeof asked.after, sizeof asked.after);
      if (asked.after.database == database && asked.after.file == file) return asked.after;
    }
  } while (told.more != 0 && told.count > 0);
  die("the index", "is not in the engine");
  return asked.after;
}

static void take_distances(double* distances, uint32_t k) {
  ToldFound told;
  if (answer_bytes < sizeof told) die("the engine", "answers too few bytes");
  memcpy(&told, answer, sizeof told);
  if (answer_bytes != sizeof told + told.count * (sizeof(uint64_t) + sizeof(float))) {
    die("the engine", "answers other bytes");
  }
  const char* from = answer + sizeof told + told.count * sizeof(uint64_t);
  for (uint32_t i = 0; i < k; i++) {
    float distance = INFINITY;
    if (i < told.count) memcpy(&distance, from + i * sizeof distance, sizeof distance);
    distances[i] = (double)distance;
  }
}

int main(int count_of_words, char** words) {
  if (count_of_words != 10) {
    die("usage", "SEGMENT DATABASE FILE QUERIES.fbin FIRST COUNT PASSES K LIST");
  }
  const int first = atoi(words[5]), count = atoi(words[6]);
  const uint32_t passes = (uint32_t)atoi(words[7]), k = (uint32_t)atoi(words[8]);
  const uint32_t list = (uint32_t)atoi(words[9]);
  if (count < 1 || passes < 1 || k < 1 || k > ASK_MOST_ROWS) die("usage", "a number cannot be");
  char why[CHANNEL_ERROR_BYTES];
  uint32_t dimension;
  const float* queries = read_queries(words[4], first, count, &dimension);
  Asker asker = {.channel = channel_open(words[1], 0, why)};
  if (asker.channel == NULL) die(words[1], why);
  asker.slot = channel_claim(asker.channel);
  if (asker.slot == CHANNEL_NO_SLOT) die("the channel", "has no free slot");
  AskSearch asked = {.k = k, .list = list, .query_bytes = 4 * dimension, .deadline_ms = 60000};
  asked.index = find_index(&asker, (uint32_t)strtoul(words[2], NULL, 10),
                           (uint32_t)strtoul(words[3], NULL, 10));
  const size_t calls = (size_t)count * passes;
  double* times = room_for(calls, sizeof *times);
  double* distances = room_for(calls * k, sizeof *distances);
  const double began = now_us();
  for (size_t i = 0; i < calls; i++) {
    const double asked_at = now_us();
    ask(&asker, kAskSearch, &asked, sizeof asked, queries + (i % (size_t)count) * dimension,
        4 * dimension);
    times[i] = now_us() - asked_at;
    take_distances(distances + i * k, k);
  }
  const double took = now_us() - began;
  channel_release(asker.channel, asker.slot);
  channel_close(asker.channel);
  write_calls(took, times, calls, distances, calls * k * sizeof *distances);
  return 0;
}
