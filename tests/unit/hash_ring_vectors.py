#!/usr/bin/env python3
"""Owners of partitions by the rule in ring/hash_ring.h, computed without the project's code.

Run it once and paste what it prints into hash_ring_test.cc. When the two differ, the C++ has broken the rule: a change
of the rule moves every running ring's partitions.
"""
import hashlib
import struct


def place(data):
    return int.from_bytes(hashlib.md5(data).digest()[:8], "big")


def peer_id(number):
    """Peers of the vectors: MD5 of "peer N"."""
    return hashlib.md5(b"peer %d" % number).digest()


def walk(capacities, partition):
    """Peer numbers in ring order from the partition on, each once."""
    points = []
    for number, capacity in enumerate(capacities):
        for i in range(capacity):
            digest = hashlib.md5(peer_id(number) + struct.pack(">I", i)).digest()
            for half in (digest[:8], digest[8:]):
                points.append((int.from_bytes(half, "big"), peer_id(number), number))
    points.sort()
    at = place(b"partition" + struct.pack(">I", partition))
    start = next((n for n, point in enumerate(points) if point[0] >= at), 0)
    order = []
    for point in points[start:] + points[:start]:
        if point[2] not in order:
            order.append(point[2])
    return order


def share_out(capacities, partitions):
    """Of each partition the owner, then the others in ring order."""
    all_of_them = sum(capacities)
    room = [
        max(-(-partitions * capacity // all_of_them), 5 * partitions * capacity // (4 * all_of_them))
        for capacity in capacities
    ]
    orders = []
    for partition in range(partitions):
        order = walk(capacities, partition)
        owner = next(number for number in order if room[number] > 0)
        room[owner] -= 1
        orders.append([owner] + [number for number in order if number != owner])
    return orders


def show(name, capacities, partitions):
    orders = share_out(capacities, partitions)
    owners = "".join(str(order[0]) for order in orders)
    print(f"{name}: capacities {capacities}, {partitions} partitions")
    for start in range(0, partitions, 64):
        print(f'    "{owners[start:start + 64]}"')
    print("  orders of partitions 0 to 7:", ", ".join("".join(map(str, order)) for order in orders[:8]))
    described = struct.pack(">I", partitions)
    for number in sorted(range(len(capacities)), key=peer_id):
        described += peer_id(number) + struct.pack(">I", capacities[number])
    print(f"  fingerprint: 0x{place(described):016x}")


show("three", [100, 100, 100], 256)
show("five", [100, 50, 200, 100, 25], 256)
