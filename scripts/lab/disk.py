#!/usr/bin/env python3
"""A disk with a volatile write cache, for QEMU over NBD: `disk.py IMAGE SOCKET`.

A write is in the cache, and a flush brings all that is there to the image. At SIGTERM, or when QEMU
is gone, power is: of the blocks that were written behind the last flush some reach the image, by
chance, the others are lost. The share that does differs each time; it may be none or all. (A killed
QEMU takes a moment to hang up, in which what it had asked for would be done: hence the signal.) Ends
with its one client. A block is written whole or not at all, as a disk with sectors of 4 KiB does it.

The protocol: https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md
"""
import fcntl
import os
import random
import signal
import socket
import struct
import sys
import time

BLOCK = 4096
FLUSH_S = 0.05  # a flush takes so long, and power may go meanwhile
PATIENCE_S = 120  # for the one before that has the image, and for QEMU

REQUEST, REPLY = 0x25609513, 0x67446698
READ, WRITE, DISCONNECT, FLUSH = range(4)
HAS_FLAGS, SEND_FLUSH = 1, 4
FIXED_NEWSTYLE, NO_ZEROES = 1, 2
OPTION, OPTION_REPLY, GO = b"IHAVEOPT", 0x3E889045565A9, 7
ACKNOWLEDGED, INFO, UNSUPPORTED = 1, 3, (1 << 31) + 1
INVALID = 22


class PowerWent(Exception):
    """Or QEMU is gone."""


def cut(*_):
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise PowerWent


class Disk:
    """An image, and the newest bytes of the blocks that were written since the last flush."""

    def __init__(self, path):
        self.image = os.open(path, os.O_RDWR)
        fcntl.flock(self.image, fcntl.LOCK_EX)  # the one before writes what it keeps
        self.size = os.fstat(self.image).st_size
        self.cache = {}

    def block(self, number):
        return self.cache.get(number) or os.pread(self.image, BLOCK, number * BLOCK)

    def read(self, offset, count):
        first, last = offset // BLOCK, (offset + count - 1) // BLOCK
        data = b"".join(self.block(number) for number in range(first, last + 1))
        return data[offset - first * BLOCK:][:count]

    def write(self, offset, data):
        while data:
            number, skip = divmod(offset, BLOCK)
            piece = data[:BLOCK - skip]
            if len(piece) < BLOCK:
                old = self.block(number)
                self.cache[number] = old[:skip] + piece + old[skip + len(piece):]
            else:
                self.cache[number] = bytes(piece)
            offset, data = offset + len(piece), data[len(piece):]

    def keep(self, numbers):
        for number in numbers:
            os.pwrite(self.image, self.cache[number], number * BLOCK)

    def flush(self):
        self.keep(self.cache)
        self.cache.clear()

    def lose_power(self):
        share = random.choice((0, 1, random.random()))
        kept = [number for number in self.cache if random.random() < share]
        self.keep(kept)
        print(f"power went: {len(kept)} of {len(self.cache)} blocks behind the last flush were kept",
              flush=True)


class Client:
    def __init__(self, connection, disk):
        self.connection, self.disk = connection, disk

    def receive(self, count):
        data = bytearray()
        while len(data) < count:
            piece = self.connection.recv(count - len(data))
            if not piece:
                raise PowerWent
            data += piece
        return bytes(data)

    def unpack(self, form):
        return struct.unpack(form, self.receive(struct.calcsize(form)))

    def answer_option(self, option, kind, data=b""):
        self.connection.sendall(struct.pack(">QIII", OPTION_REPLY, option, kind, len(data)) + data)

    def agree(self):
        """Until the client wants the disk, whatever it calls it."""
        self.connection.sendall(b"NBDMAGIC" + OPTION + struct.pack(">H", FIXED_NEWSTYLE | NO_ZEROES))
        self.receive(4)  # its flags
        while True:
            magic, option, length = self.unpack(">8sII")
            self.receive(length)
            if magic != OPTION:
                raise PowerWent
            if option == GO:
                facts = struct.pack(">HQH", 0, self.disk.size, HAS_FLAGS | SEND_FLUSH)
                self.answer_option(option, INFO, facts)
                self.answer_option(option, ACKNOWLEDGED)
                return
            self.answer_option(option, UNSUPPORTED)

    def serve(self):
        """One request after the other, until power goes."""
        while True:
            magic, _, what, handle, offset, count = self.unpack(">IHHQQI")
            if magic != REQUEST or what == DISCONNECT:
                raise PowerWent
            data, error = self.carry_out(what, offset, count)
            self.connection.sendall(struct.pack(">IIQ", REPLY, error, handle) + data)

    def carry_out(self, what, offset, count):
        written = self.receive(count) if what == WRITE else None
        if what not in (READ, WRITE, FLUSH) or offset + count > self.disk.size:
            return b"", INVALID
        if what == READ:
            return self.disk.read(offset, count), 0
        if what == WRITE:
            self.disk.write(offset, written)
        else:
            self.flush()
        return b"", 0

    def flush(self):
        if self.disk.cache:
            time.sleep(FLUSH_S)
        self.disk.flush()


def serve(disk, path):
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen(1)
        connection, _ = listener.accept()
    signal.alarm(0)
    client = Client(connection, disk)
    client.agree()
    client.serve()


def main(image, path):
    signal.alarm(PATIENCE_S)
    disk = Disk(image)
    signal.signal(signal.SIGTERM, cut)
    try:
        serve(disk, path)
    except (PowerWent, ConnectionError):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        disk.lose_power()


if __name__ == "__main__":
    main(*sys.argv[1:])
