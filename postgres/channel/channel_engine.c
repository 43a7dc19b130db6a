#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <string.h>

#include "postgres/channel/channel_layout.h"

#define TURNS_BEFORE_SLEEP 200  // 60 to 100 us on a free processor

// Takes a slot's request, if it has one. The process's own flag keeps one slot from being taken
// twice, whatever the segment says.
static bool take_from(Channel* channel, uint32_t slot, ChannelTaken* taken) {
  ChannelSlot* from = &channel->slots[slot];
  if (atomic_exchange_explicit(&channel->under_way[slot], 1, memory_order_seq_cst)) return false;
  uint64_t word = atomic_load_explicit(&from->state, memory_order_acquire);
  // Acquire: the request's bytes are seen.
  if (phase_of(word) == kPhaseAsked &&
      atomic_compare_exchange_strong_explicit(&from->state, &word,
                                              channel_word(sequence_of(word), kPhaseTaken),
                                              memory_order_acq_rel, memory_order_relaxed)) {
    const uint32_t bytes = *(const volatile uint32_t*)&from->request_bytes;
    taken->slot = slot;
    taken->operation = *(const volatile uint32_t*)&from->operation;
    taken->bytes = bytes <= CHANNEL_REQUEST_BYTES ? bytes : CHANNEL_REQUEST_BYTES;
    taken->sequence = sequence_of(word);
    return true;
  }
  // A request that came in between was refused to another thread by the flag: it is told again.
  atomic_store_explicit(&channel->under_way[slot], 0, memory_order_seq_cst);
  word = atomic_load_explicit(&from->state, memory_order_seq_cst);
  if (phase_of(word) == kPhaseAsked) channel_announce(channel, slot);
  return false;
}

// Takes from the slots of one word, of those in `mask`.
static bool take_from_word(Channel* channel, uint32_t word, uint64_t mask, ChannelTaken* taken) {
  _Atomic uint64_t* bits = &channel->header->waiting[word];
  // Relaxed: the slot's own state is what orders.
  uint64_t set = atomic_load_explicit(bits, memory_order_relaxed) & mask;
  while (set != 0) {
    const uint32_t place = (uint32_t)__builtin_ctzll(set);
    const uint64_t bit = UINT64_C(1) << place;
    set &= ~bit;
    const uint64_t before = atomic_fetch_and_explicit(bits, ~bit, memory_order_acq_rel);
    if ((before & bit) == 0) continue;  // another thread was faster
    const uint32_t slot = word * 64 + place;
    if (slot < channel->slot_count && take_from(channel, slot, taken)) return true;
  }
  return false;
}

bool channel_take(Channel* channel, uint32_t from, ChannelTaken* taken) {
  const uint32_t words = (channel->slot_count + 63) / 64;
  const uint32_t first = from % channel->slot_count;
  const uint64_t later = ~UINT64_C(0) << first % 64;
  if (take_from_word(channel, first / 64, later, taken)) return true;
  for (uint32_t i = 1; i < words; i++) {
    if (take_from_word(channel, (first / 64 + i) % words, ~UINT64_C(0), taken)) return true;
  }
  return take_from_word(channel, first / 64, ~later, taken);
}

void channel_read_request(const Channel* channel, const ChannelTaken* taken, void* to) {
  if (taken->bytes == 0) return;  // then there may be no place to copy to
  memcpy(to, channel->slots[taken->slot].request, taken->bytes);
}

bool channel_is_given_up(const Channel* channel, const ChannelTaken* taken) {
  const ChannelSlot* slot = &channel->slots[taken->slot];
  // Relaxed: nothing is read that these would order. A process that has ended waits no more.
  return atomic_load_explicit(&slot->given_up, memory_order_relaxed) == taken->sequence ||
         atomic_load_explicit(&slot->owner, memory_order_relaxed) == OWNER_LEFT;
}

void channel_answer(Channel* channel, const ChannelTaken* taken, int32_t status, const void* answer,
                    uint32_t bytes) {
  ChannelSlot* to = &channel->slots[taken->slot];
  if (bytes > CHANNEL_ANSWER_BYTES) bytes = CHANNEL_ANSWER_BYTES;
  if (bytes > 0) memcpy(to->answer, answer, bytes);
  to->answer_bytes = bytes;
  to->status = status;
  // From here on the slot may have another request.
  atomic_store_explicit(&channel->under_way[taken->slot], 0, memory_order_release);
  uint64_t word = channel_word(taken->sequence, kPhaseTaken);
  // Release: the answer's bytes are seen with it.
  atomic_compare_exchange_strong_explicit(&to->state, &word,
                                          channel_word(taken->sequence, kPhaseAnswered),
                                          memory_order_acq_rel, memory_order_relaxed);
  atomic_fetch_add_explicit(&to->answered, 1, memory_order_seq_cst);
  channel_futex_wake(&to->answered, INT32_MAX);
}

static bool any_waits(const ChannelHeader* header) {
  for (int i = 0; i < CHANNEL_WORDS; i++) {
    if (atomic_load_explicit(&header->waiting[i], memory_order_seq_cst) != 0) return true;
  }
  return false;
}

// A process that gets an answer often asks again within tens of microseconds. One thread at a time
// waits so long awake; to yield leaves the processor to that process.
static bool comes_soon(Channel* channel) {
  if (atomic_exchange_explicit(&channel->watched, 1, memory_order_relaxed)) return false;
  bool any = false;
  for (int i = 0; i < TURNS_BEFORE_SLEEP && !any; i++) {
    sched_yield();
    any = any_waits(channel->header);
  }
  atomic_store_explicit(&channel->watched, 0, memory_order_relaxed);
  return any;
}

void channel_sleep(Channel* channel, uint32_t most_ms) {
  ChannelHeader* header = channel->header;
  if (comes_soon(channel)) return;
  const uint32_t count = atomic_load_explicit(&header->asked, memory_order_seq_cst);
  // See channel_announce() for the order.
  atomic_fetch_add_explicit(&header->sleepers, 1, memory_order_seq_cst);
  if (!any_waits(header)) channel_futex_wait(&header->asked, count, most_ms);
  atomic_fetch_sub_explicit(&header->sleepers, 1, memory_order_seq_cst);
}

bool channel_any_sleeps(const Channel* channel) {
  return atomic_load_explicit(&channel->header->sleepers, memory_order_relaxed) != 0;
}

void channel_wake_all(Channel* channel) {
  atomic_fetch_add_explicit(&channel->header->asked, 1, memory_order_seq_cst);
  channel_futex_wake(&channel->header->asked, INT32_MAX);
}

static void take_back(ChannelSlot* slot) {
  uint32_t owner = atomic_load_explicit(&slot->owner, memory_order_relaxed);
  if (owner == 0 || owner == OWNER_LEFT) return;
  if (owner <= INT32_MAX && (kill((pid_t)owner, 0) == 0 || errno != ESRCH)) return;
  atomic_compare_exchange_strong_explicit(&slot->owner, &owner, OWNER_LEFT, memory_order_acq_rel,
                                          memory_order_relaxed);
}

void channel_sweep(Channel* channel, bool looks_at_owners) {
  for (uint32_t i = 0; i < channel->slot_count; i++) {
    ChannelSlot* slot = &channel->slots[i];
    const uint64_t word = atomic_load_explicit(&slot->state, memory_order_relaxed);
    if (phase_of(word) == kPhaseAsked) channel_announce(channel, i);
    if (looks_at_owners) take_back(slot);
  }
}
