#!/usr/bin/env python3
"""PageRank and HITS of a graph made from a seed, by networkx (https://networkx.org, 3.6.1), for rank_test.cc.

Run it once with networkx and paste what it prints into tests/unit/rank_vectors.inc:
    pip install networkx scipy && tests/unit/rank_vectors.py > tests/unit/rank_vectors.inc
The graph has nodes without links, links of a node to itself, and links that are given twice. When the two differ, the
C++ is wrong, or networkx has changed what it computes.
"""
import networkx

NODES = 60
EDGES = 240


def edges():
    """A linear congruential generator (Knuth's MMIX), so that C++ and Python draw the same."""
    state = 5
    drawn = []
    for _ in range(EDGES):
        pair = []
        for _ in range(2):
            state = (state * 6364136223846793005 + 1442695040888963407) % 2**64
            pair.append((state >> 33) % NODES)
        # Squared, so that some nodes have many links; every fifth node has none.
        source, target = pair[0], pair[1] * pair[1] // NODES
        if source % 5 != 0:
            drawn.append((source, target))
    return drawn


graph = networkx.DiGraph()
graph.add_edges_from(edges())
rank = networkx.pagerank(graph, alpha=0.85, tol=1e-14 / len(graph), max_iter=10000)
half = networkx.pagerank(graph, alpha=0.5, tol=1e-14 / len(graph), max_iter=10000)
hubs, authorities = networkx.hits(graph, tol=1e-15, max_iter=100000)
print("// Printed by tests/unit/rank_vectors.py: {node, PageRank 0.85, PageRank 0.5, authority, hub}.")
print("// clang-format off")
for node in sorted(graph):
    print(f"{{{node}, {rank[node]:.15g}, {half[node]:.15g}, {abs(authorities[node]):.15g}, {abs(hubs[node]):.15g}}},")
print("// clang-format on")
