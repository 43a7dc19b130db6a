"""What a pool keeps, by the order in which things are asked for: hits of LRU, FIFO, random, clock."""
import collections
import random


class Lru:
    def __init__(self, capacity):
        self.capacity, self.kept = capacity, collections.OrderedDict()

    def touch(self, thing):
        """Whether it was there; it is now."""
        if thing in self.kept:
            self.kept.move_to_end(thing)
            return True
        if len(self.kept) == self.capacity:
            self.kept.popitem(last=False)
        self.kept[thing] = True
        return False


class Fifo(Lru):
    def touch(self, thing):
        return thing in self.kept or super().touch(thing)


class Random:
    """The same seed drops the same things."""

    def __init__(self, capacity):
        self.capacity, self.kept, self.places = capacity, [], {}
        self.random = random.Random(1)

    def touch(self, thing):
        if thing in self.places:
            return True
        if len(self.kept) < self.capacity:
            self.places[thing] = len(self.kept)
            self.kept.append(thing)
            return False
        place = self.random.randrange(self.capacity)
        del self.places[self.kept[place]]
        self.kept[place], self.places[thing] = thing, place
        return False


class Clock:
    """What was touched since the hand passed has a second chance, as VeloANN's pool of records has it."""

    def __init__(self, capacity):
        self.capacity, self.kept, self.places, self.touched, self.hand = capacity, [], {}, [], 0

    def touch(self, thing):
        place = self.places.get(thing)
        if place is not None:
            self.touched[place] = True
            return True
        if len(self.kept) < self.capacity:
            self.places[thing] = len(self.kept)
            self.kept.append(thing)
            self.touched.append(False)
            return False
        self._replace(thing)
        return False

    def _replace(self, thing):
        while self.touched[self.hand]:
            self.touched[self.hand] = False
            self.hand = (self.hand + 1) % self.capacity
        del self.places[self.kept[self.hand]]
        self.kept[self.hand], self.places[thing] = thing, self.hand
        self.hand = (self.hand + 1) % self.capacity


POLICIES = {"LRU": Lru, "FIFO": Fifo, "Random": Random, "clock": Clock}


def hit_ratio(policy, things, capacity):
    """Of the second half of what is asked for; the first fills the pool."""
    pool, begin = POLICIES[policy](max(1, capacity)), len(things) // 2
    hits = [pool.touch(thing) for thing in things]
    return sum(hits[begin:]) / max(1, len(hits) - begin)
