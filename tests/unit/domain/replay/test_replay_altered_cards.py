"""Every alteration of the deck and the cards fails the checks that are about it, and no others."""

from __future__ import annotations

import pytest

from tests.unit.domain.replay import honest_rounds as honest
from tests.unit.domain.replay.alterations import Alteration, altered, dropping, setting

ALTERATIONS: dict[str, Alteration] = {
    "seed": (
        honest.rng_block_in_one_command,
        setting("RoundClosed", deck_seed="00" * 48),
        ("dealer_cards", "dealt.dealer", "dealt.seat_3", "deck_commitment"),
    ),
    "seed_missing": (
        honest.rng_block_in_one_command,
        setting("RoundClosed", deck_seed=None),
        ("deck_seed_revealed",),
    ),
    "seed_missing_exchange": (
        honest.rng_with_exchanges,
        setting("RoundClosed", deck_seed=None),
        ("deck_seed_revealed",),
    ),
    "seed_of_a_table": (honest.uk_royal, setting("RoundClosed", deck_seed="00" * 48), ("no_deck",)),
    "commitment": (
        honest.rng_block_in_one_command,
        setting("RoundOpened", deck_commitment="0" * 64),
        ("deck_commitment",),
    ),
    "commitment_missing": (
        honest.rng_block_in_one_command,
        setting("RoundOpened", deck_commitment=None),
        ("deck_commitment",),
    ),
    "commitment_of_a_table": (
        honest.uk_royal,
        setting("RoundOpened", deck_commitment="0" * 64),
        ("no_deck",),
    ),
    "algorithm": (
        honest.rng_block_in_one_command,
        setting("RoundOpened", deck_algorithm="stud-deck-2"),
        ("deck_algorithm",),
    ),
    "blind_client_seed": (
        honest.rng_block_in_one_command,
        setting("AntePlaced", client_seed="x"),
        ("commitment_timing", "dealer_cards", "dealt.dealer", "dealt.seat_3"),
    ),
    "client_seed": (
        honest.rng_with_exchanges,
        setting("AntePlaced", 2, client_seed="x"),
        (
            "dealer_cards",
            "dealt.dealer",
            "dealt.seat_1",
            "dealt.seat_2",
            "dealt.seat_4",
            "exchanged.seat_1",
            "exchanged.seat_4",
        ),
    ),
    "another_round": (
        honest.rng_block_in_one_command,
        lambda events: [event.update(stream="round-r-2") for event in events],
        ("dealer_cards", "dealt.dealer", "dealt.seat_3", "deck_commitment"),
    ),
    "dealt_card": (
        honest.rng_block_in_one_command,
        setting("Dealt", 3, cards=["8c", "5d", "6d", "Th", "3c"]),
        ("dealt.seat_3",),
    ),
    "dealt_order": (
        honest.rng_block_in_one_command,
        setting("Dealt", 3, cards=["5d", "8c", "6d", "Th", "3s"]),
        ("dealt.seat_3",),
    ),
    "dealt_index": (
        honest.rng_block_in_one_command,
        setting("Dealt", 3, indices=[0, 1, 2, 3, 5]),
        ("dealt.seat_3",),
    ),
    "dealt_index_missing": (
        honest.rng_block_in_one_command,
        setting("Dealt", 3, indices=None),
        ("dealt.seat_3",),
    ),
    "dealt_index_of_a_table": (
        honest.uk_royal,
        setting("Dealt", 1, indices=[0, 1, 2, 3, 4]),
        ("dealt.seat_1",),
    ),
    "dealt_four": (
        honest.uk_royal,
        setting("Dealt", 1, cards=["Ac", "Kc", "Qc", "Jc"]),
        ("dealt.seat_1", "settled.seat_1"),
    ),
    "hand_missing": (honest.uk_royal, dropping("Dealt"), ("dealt.seat_1", "phases", "settled.seat_1")),
    "dealer_deal_missing": (honest.uk_royal, dropping("Dealt", 1), ("phases",)),
    "up_card": (
        honest.rng_block_in_one_command,
        setting("Dealt", nth=1, cards=["Tc"]),
        ("dealer_up_cards", "dealt.dealer"),
    ),
    "up_indices": (honest.uk_royal, setting("Dealt", nth=1, up_indices=[1]), ("dealer_up_indices",)),
    "up_card_hidden": (honest.uk_royal, setting("Dealt", nth=1, cards=["2d"]), ("dealer_up_cards",)),
    "dealer_cards": (
        honest.rng_block_in_one_command,
        setting("DealerQualified", cards=["5h", "Tc", "Qc", "Qd", "9h"]),
        ("dealer_cards",),
    ),
    "dealer_indices": (
        honest.rng_block_in_one_command,
        setting("DealerQualified", indices=[5, 6, 7, 9, 8]),
        ("dealer_cards",),
    ),
    "burn_index": (
        honest.rng_with_exchanges,
        setting("CardExchanged", 4, burn_index=19),
        ("exchanged.seat_4",),
    ),
    "drawn_index": (
        honest.rng_with_exchanges,
        setting("CardExchanged", 4, drawn_index=20),
        ("exchanged.seat_4",),
    ),
    "drawn_card": (honest.rng_with_exchanges, setting("CardExchanged", 4, drawn="Qs"), ("exchanged.seat_4",)),
    "drawn_twice": (
        honest.czech_exchange,
        setting("CardExchanged", drawn="2s"),
        ("cards_distinct", "settled.seat_1.category", "settled.seat_1.raise"),
    ),
    "drawn_from_own_hand": (
        honest.czech_exchange,
        setting("CardExchanged", drawn="2h"),
        ("cards_distinct", "settled.seat_1"),
    ),
    "card_twice": (
        honest.uk_royal,
        setting("DealerQualified", cards=["As", "Kc", "4h", "3c", "2s"]),
        ("cards_distinct",),
    ),
    "up_card_in_the_hand": (
        honest.evolution_shared,
        setting("Dealt", nth=1, cards=["4c"]),
        ("dealer_up_cards", "settled.seat_4000.five_plus_one", "settled.seat_7.five_plus_one"),
    ),
}


@pytest.mark.parametrize("alteration", ALTERATIONS.values(), ids=ALTERATIONS)
def test_a_wrong_card_fails(alteration: Alteration) -> None:
    """An alteration of the deck and the cards fails exactly the checks it is about."""
    expected, actual = altered(alteration)

    assert actual == expected
