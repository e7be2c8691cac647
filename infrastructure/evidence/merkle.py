"""Merkle trees as RFC 6962 section 2.1 defines them (RFC 9162 section 2.1 keeps them), with SHA-256.

Everything here is pure. A *complete* subtree (level, index) is that of the 2^level leaves from index·2^level
on: once its leaves are there it never changes. Where a proof is made, a `Read` gives its hash. All hashes are
32 bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import sha256
from typing import Final

HASH_BYTES: Final = 32
TILE_HEIGHT: Final = 8
TILE_WIDTH: Final = 1 << TILE_HEIGHT
SIZE_MAX: Final = 2**63 - 1
EMPTY_ROOT: Final = sha256(b"").digest()

Read = Callable[[int, int], bytes]
"""Gives the hash of the complete subtree of a level and an index."""

_LEAF: Final = b"\x00"
_NODE: Final = b"\x01"


def leaf_hash(data: bytes) -> bytes:
    """The hash of a leaf: SHA-256(0x00 ‖ data) (RFC 6962 section 2.1)."""
    return sha256(_LEAF + data).digest()


def leaf_hashes(leaves: Iterable[bytes]) -> list[bytes]:
    """The hashes of many leaves, fast."""
    hashed, prefix = sha256, _LEAF
    return [hashed(prefix + leaf).digest() for leaf in leaves]


def node_hash(left: bytes, right: bytes) -> bytes:
    """The hash of an inner node: SHA-256(0x01 ‖ left ‖ right) (RFC 6962 section 2.1)."""
    return sha256(_NODE + left + right).digest()


def level_above(hashes: bytes) -> bytes:
    """The hashes of the parents of adjoining nodes, as one string; a last one without sibling is left out."""
    hashed, prefix = sha256, _NODE
    step = 2 * HASH_BYTES
    return b"".join(
        [hashed(prefix + hashes[at : at + step]).digest() for at in range(0, len(hashes) - step + 1, step)]
    )


def complete_root(hashes: bytes) -> bytes:
    """The root over 2^n leaf hashes in one string. Raises ValueError where they are not so many."""
    count, rest = divmod(len(hashes), HASH_BYTES)
    if rest or not count or count & (count - 1):
        raise ValueError(f"{len(hashes)} bytes are not the hashes of a complete subtree")
    while len(hashes) > HASH_BYTES:
        hashes = level_above(hashes)
    return hashes


class Frontier:
    """A compact range: what has to be kept of the leaves from `start` on to hash on and to tell a root.

    Those are the hashes of the largest complete subtrees that the leaves consist of, at most 126. Ranges of
    adjoining leaves can be made apart and joined. It can be pickled.
    """

    __slots__ = ("_nodes", "end", "start")

    def __init__(self, start: int = 0) -> None:
        self.start = start
        self.end = start
        self._nodes: list[tuple[int, int, bytes]] = []  # level, index, hash; from left to right

    @property
    def size(self) -> int:
        """How many leaves it has."""
        return self.end - self.start

    @property
    def nodes(self) -> list[tuple[int, int, bytes]]:
        """The subtrees it consists of, from left to right, each as level, index and hash."""
        return list(self._nodes)

    def append(self, leaf: bytes) -> None:
        """Add a leaf's hash."""
        self.push(0, leaf)

    def push(self, level: int, root: bytes) -> None:
        """Add the root of the complete subtree of 2^level leaves that comes next.

        Raises ValueError where none of that level begins here.
        """
        index, rest = divmod(self.end, 1 << level)
        if rest:
            raise ValueError(f"no subtree of level {level} begins at leaf {self.end}")
        self.end += 1 << level
        nodes = self._nodes
        while index & 1 and nodes and nodes[-1][0] == level:
            root = sha256(_NODE + nodes.pop()[2] + root).digest()
            level += 1
            index >>= 1
        nodes.append((level, index, root))

    def extend(self, leaves: Sequence[bytes]) -> None:
        """Add the hashes of many leaves, by the tile."""
        done = 0
        while left := len(leaves) - done:
            width = min(TILE_WIDTH, 1 << (left.bit_length() - 1))
            if self.end:
                width = min(width, self.end & -self.end)
            root = complete_root(b"".join(leaves[done : done + width]))
            self.push(width.bit_length() - 1, root)
            done += width

    def join(self, right: Frontier) -> None:
        """Add the leaves of a range that begins where this one ends. Raises ValueError where it does not."""
        if right.start != self.end:
            raise ValueError(f"leaves from {right.start} on do not follow those up to {self.end}")
        for level, _, root in right._nodes:
            self.push(level, root)

    def copy(self) -> Frontier:
        """Another one of the same leaves."""
        other = Frontier(self.start)
        other.end, other._nodes = self.end, list(self._nodes)
        return other

    def root(self) -> bytes:
        """The root of the tree of these leaves. Raises ValueError where they are not the first ones."""
        if self.start:
            raise ValueError("a range that does not begin at the first leaf has no root")
        return folded([root for _, _, root in self._nodes])

    @classmethod
    def of(cls, size: int, read: Read) -> Frontier:
        """The frontier of the first `size` leaves of a tree that is kept elsewhere."""
        frontier = cls()
        for level, index in complete_subtrees(0, size):
            frontier._nodes.append((level, index, read(level, index)))
        frontier.end = size
        return frontier


def root_of(leaves: Sequence[bytes]) -> bytes:
    """The root of the tree of these leaf hashes."""
    frontier = Frontier()
    frontier.extend(leaves)
    return frontier.root()


def root_at(size: int, read: Read) -> bytes:
    """The root of the first `size` leaves of a tree."""
    return folded([read(level, index) for level, index in complete_subtrees(0, size)])


def complete_subtrees(start: int, end: int) -> list[tuple[int, int]]:
    """The largest complete subtrees from a leaf on that `end - start` leaves fit into, from left to right.

    `start` is a multiple of the first one's size: so it is wherever RFC 6962 divides a tree.
    """
    found = []
    while start < end:
        level = (end - start).bit_length() - 1
        found.append((level, start >> level))
        start += 1 << level
    return found


def inclusion_proof(index: int, size: int, read: Read) -> list[bytes]:
    """The audit path of a leaf, from its sibling up (RFC 6962 section 2.1.1).

    Raises ValueError where the tree has no such leaf, and whatever `read` raises.
    """
    if not 0 <= index < size <= SIZE_MAX:
        raise ValueError(f"a tree of {size} leaves has no leaf {index}")
    path = []
    start, end = 0, size
    while end - start > 1:
        split = start + _split(end - start)
        if index < split:
            path.append(_root_between(split, end, read))
            end = split
        else:
            path.append(_root_between(start, split, read))
            start = split
    path.reverse()
    return path


def consistency_proof(old: int, new: int, read: Read) -> list[bytes]:
    """The proof that a tree of `new` leaves begins with the one of `old` (RFC 6962 section 2.1.2).

    It is empty for an old tree that is empty or of the same size. Raises ValueError where the old one is
    larger, and whatever `read` raises.
    """
    if not 0 <= old <= new <= SIZE_MAX:
        raise ValueError(f"a tree of {new} leaves does not begin with one of {old}")
    if old in (0, new):
        return []
    proof = []
    start, end = 0, new
    while old != end:
        split = start + _split(end - start)
        if old <= split:
            proof.append(_root_between(split, end, read))
            end = split
        else:
            proof.append(_root_between(start, split, read))
            start = split
    if start:  # otherwise the last subtree is the whole old tree, whose root the verifier has
        proof.append(_root_between(start, end, read))
    proof.reverse()
    return proof


def verify_inclusion(leaf: bytes, index: int, size: int, proof: Sequence[bytes], root: bytes) -> bool:
    """Say whether a proof shows a leaf hash at an index of the tree (RFC 9162 section 2.1.3.2)."""
    if not (0 <= index < size <= SIZE_MAX and _are_hashes([leaf, root, *proof])):
        return False
    sides = _sides(index, size - 1, len(proof))
    if sides is None:
        return False
    found = leaf
    for is_left, sibling in zip(sides, proof, strict=True):
        found = node_hash(sibling, found) if is_left else node_hash(found, sibling)
    return found == root


def verify_consistency(
    old_size: int, old_root: bytes, new_size: int, new_root: bytes, proof: Sequence[bytes]
) -> bool:
    """Say whether a proof shows that the new tree begins with the old one (RFC 9162 section 2.1.4.2)."""
    if not (0 <= old_size <= new_size <= SIZE_MAX and _are_hashes([old_root, new_root, *proof])):
        return False
    if old_size == new_size:
        return not proof and old_root == new_root
    if not old_size:
        return not proof and old_root == EMPTY_ROOT
    path = list(proof)
    if not old_size & (old_size - 1):
        path.insert(0, old_root)
    if not path:
        return False
    node, last = old_size - 1, new_size - 1
    while node & 1:
        node >>= 1
        last >>= 1
    sides = _sides(node, last, len(path) - 1)
    if sides is None:
        return False
    old = new = path[0]
    for is_left, sibling in zip(sides, path[1:], strict=True):
        if is_left:
            old = node_hash(sibling, old)
        new = node_hash(sibling, new) if is_left else node_hash(new, sibling)
    return old == old_root and new == new_root


def _sides(node: int, last: int, count: int) -> list[bool] | None:
    """On which side of the way up from a node the siblings of a proof are: True for the left one.

    `last` is the number of the last node of that level. None where the way is not `count` siblings long.
    """
    sides: list[bool] = []
    while last and len(sides) <= count:
        is_left = bool(node & 1) or node == last
        sides.append(is_left)
        while is_left and node and not node & 1:  # a last node without sibling goes up alone
            node >>= 1
            last >>= 1
        node >>= 1
        last >>= 1
    return sides if len(sides) == count else None


def _split(count: int) -> int:
    """The largest power of two below a count."""
    return 1 << ((count - 1).bit_length() - 1)


def _root_between(start: int, end: int, read: Read) -> bytes:
    return folded([read(level, index) for level, index in complete_subtrees(start, end)])


def folded(roots: Sequence[bytes]) -> bytes:
    """The root over adjoining complete subtrees, each smaller than the one before."""
    if not roots:
        return EMPTY_ROOT
    found = roots[-1]
    for left in reversed(roots[:-1]):
        found = node_hash(left, found)
    return found


def _are_hashes(values: Iterable[bytes]) -> bool:
    return all(len(value) == HASH_BYTES for value in values)
