"""Tiles: paths as C2SP tlog-tiles spells them, which tiles a tree has, and bundles of entries."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from infrastructure.evidence.tiles import (
    INDEX_MAX,
    LEVEL_MAX,
    Place,
    entries_path,
    pack_entries,
    parse_path,
    tile_path,
    tiles_between,
    unpack_entries,
    width_at,
)

PLACES = st.builds(
    Place, st.none() | st.integers(0, LEVEL_MAX), st.integers(0, INDEX_MAX), st.integers(1, 256)
)


def test_paths_are_spelt_as_the_document_does() -> None:
    """The document's own example, a partial tile and a bundle."""
    assert tile_path(0, 1234067) == "tile/0/x001/x234/067"
    assert tile_path(1, 7, 5) == "tile/1/007.p/5"
    assert entries_path(999) == "tile/entries/999"
    assert entries_path(1000, 255) == "tile/entries/x001/000.p/255"


@given(PLACES)
def test_a_path_says_one_place_and_a_place_has_one_path(place: Place) -> None:
    """Reading a path gives the place it was made of."""
    assert parse_path(place.path) == place


@pytest.mark.parametrize(
    "path",
    [
        "", "tile", "tile/0", "tile/0/", "tile/0/7", "tile/0/0007", "tile/0/x000/007", "tile/0/x01/007",
        "tile/0/x001", "tile/00/007", "tile/8/007", "tile/-1/007", "tile/entries/", "tile/entries/x/007",
        "tile/0/007.p/0", "tile/0/007.p/256", "tile/0/007.p/257", "tile/0/007.p/01", "tile/0/007.p",
        "tile/0/007/", "/tile/0/007", "tile/0/007\n", "tile/0/../head", "tile//0/007",
        "tile/0/\u0660\u0660\u0667",
        "tile/0/" + "x999/" * 6 + "999",
    ],
)  # fmt: skip
def test_other_spellings_are_no_paths(path: str) -> None:
    """Anything but the one spelling is refused: no file has two addresses, and none is outside."""
    with pytest.raises(ValueError, match="not the path of a tile"):
        parse_path(path)


def test_a_tree_has_the_tiles_that_the_document_counts() -> None:
    """A tree of 70 000 leaves: 273 whole tiles, one of 112; above one whole, one of 17; on top one of 1."""
    places = list(tiles_between(0, 70_000))
    assert [place for place in places if place[2] < 256] == [(0, 273, 112), (1, 1, 17), (2, 0, 1)]
    assert len(places) == 274 + 2 + 1
    assert list(tiles_between(0, 256)) == [(0, 0, 256), (1, 0, 1)]
    assert list(tiles_between(5, 5)) == []


@given(st.integers(0, 200_000), st.integers(0, 200_000))
@example(255, 256)
@example(65_536, 65_537)
def test_growing_writes_just_the_tiles_that_grow(old: int, more: int) -> None:
    """What a growing tree needs is each tile that is wider than before."""
    new = old + more
    expected = {
        (level, number, width_at(level, number, new))
        for level in range(LEVEL_MAX + 1)
        for number in range(-(-(new >> 8 * level) // 256))
        if width_at(level, number, new) > width_at(level, number, old)
    }
    assert set(tiles_between(old, new)) == expected


@given(st.lists(st.binary(max_size=40), max_size=256))
@example([b"x" * 65_535, b""])
def test_bundles_give_back_their_entries(entries: list[bytes]) -> None:
    """What is packed comes out again."""
    assert unpack_entries(pack_entries(entries)) == entries


def test_what_is_no_bundle_is_refused() -> None:
    """An entry too long to be told, a bundle that ends within one, and one of more than 256 are errors."""
    with pytest.raises(OverflowError):
        pack_entries([b"x" * 65_536])
    for bundle in (b"\x00", b"\x00\x02a", b"\x00\x00" * 257):
        with pytest.raises(ValueError, match="not a bundle"):
            unpack_entries(bundle)
