"""Rounds that a faultless ledger would have written, their payouts worked out by hand."""

from __future__ import annotations

from collections.abc import Callable

from tests.unit.domain.replay.rules_and_decks import house, plain
from tests.unit.domain.replay.stream_builder import Stream

ACE_KING = "As Kd 4h 3c 2s"
ACE_QUEEN = "As Qd Jh Tc 9s"
ROYAL = "Ac Kc Qc Jc Tc"


def rng_with_exchanges() -> Stream:
    """Three seats from a committed deck, two client seeds.

    Two buy a card, one of them folds (G6, reading 13).
    """
    stream = Stream(plain(), source="rng", jackpot={"reset": 1_000_000}, bonus_stake=500)
    for seat in (2, 1, 4):
        stream.ante(seat, 1000, seed=f"søt-{seat}", jackpot=100, bonus=500)
    stream.command(elsewhere=3).deal_deck()
    stream.exchange(4, "6s", forfeited=("bonus",)).raise_(2).exchange(1, "2c", forfeited=("bonus",))
    stream.raise_(4).fold(1).reveal("pair", qualified=True)
    lost = {"jackpot": (0, 0), "bonus": (0, 0)}
    stream.settle(1, "folded", "pair", shown=False, ante=(0, 0), fee=(0, 0), **lost)
    stream.settle(2, "win", "pair", shown=True, ante=(1000, 1000, 1), raise_=(2000, 2000, 1), **lost)
    won = {"ante": (1000, 1000, 1), "raise_": (2000, 2000, 1)}
    return stream.settle(4, "win", "pair", shown=True, **won, fee=(0, 0), **lost).close()


def rng_block_in_one_command() -> Stream:
    """One seat, opened, staked and dealt in one command from a block deal.

    The queen pair of the dealer wins.
    """
    stream = Stream(plain(deal={"pattern": "block", "dealer_up_indices": [0]}), source="rng", bonus_stake=500)
    stream.commands -= 1
    stream.ante(3, 10_000).deal_deck().raise_(3).reveal("pair", qualified=True)
    return stream.settle(3, "lose", "high_card", shown=True, ante=(0, 0), raise_=(0, 0)).close()


def rng_shared() -> Stream:
    """A shared hand from a committed deck: one hand, three bettors, the dealer's ace-king plays."""
    rules = plain(seating={"seats": 5000, "shared_player_hand": True}, play={"show_hands": "all"})
    stream = Stream(rules, source="rng", round_id="r-2", bonus_stake=500)
    for seat in (2, 1, 4):
        stream.ante(seat, 1000, seed=f"s{seat}")
    stream.command().deal_deck().fold(4).raise_(1).raise_(2).reveal("high_card", qualified=True)
    stream.settle(1, "lose", "high_card", shown=True, ante=(0, 0), raise_=(0, 0))
    stream.settle(2, "lose", "high_card", shown=True, ante=(0, 0), raise_=(0, 0))
    return stream.settle(4, "folded", "high_card", shown=True, ante=(0, 0)).close()


def us_quads() -> Stream:
    """us-casino: quads against a qualified ace-king.

    $500 from the meter, the raise's win capped at $5 000.
    """
    stream = Stream(house("us-casino"), jackpot={"reset": 1_000_000}).ante(3, 100_000, jackpot=100).command()
    stream.deal("As", {3: "9c 9d 9h 9s 2c"}).raise_(3).reveal("high_card", qualified=True, cards=ACE_KING)
    stream.hit(3, "four_of_a_kind", 50_000, ("1234567.5", "1184567.5"))
    legs = {"ante": (100_000, 100_000, 1), "raise_": (200_000, 500_000, 20), "jackpot": (0, 50_000)}
    return stream.settle(3, "win", "four_of_a_kind", shown=True, **legs).close()


def us_royal_capped() -> Stream:
    """us-casino: ante 100, raise 200, royal: 5 000 on the raise, 100 on the ante (004)."""
    stream = Stream(house("us-casino")).ante(1, 10_000).deal("As", {1: ROYAL}).raise_(1)
    stream.reveal("high_card", qualified=True, cards=ACE_KING)
    legs = {"ante": (10_000, 10_000, 1), "raise_": (20_000, 500_000, 100)}
    return stream.settle(1, "win", "royal_flush", shown=True, **legs).close()


def nordic_three_seats() -> Stream:
    """nordic: a straight pays 4:1, a folded flush takes its award, an equal pair pushes (000)."""
    stream = Stream(house("nordic"), currency="NOK", jackpot={"reset": 1_000_000, "contribution": "0.75"})
    stream.ante(1, 20_000).ante(2, 10_000, jackpot=100).ante(5, 10_000).command()
    hands = {1: "3c 4d 6s 7h 5s", 2: "2h 4h 6h 8h Th", 5: "Qh Qs Kc 9d 7c"}
    stream.deal("Qd", hands).fold(2, by="operator").raise_(5).raise_(1)
    stream.reveal("pair", qualified=True, cards="Kd 9s 7d Qc Qd")
    stream.settle(1, "win", "straight", shown=True, ante=(20_000, 20_000, 1), raise_=(40_000, 160_000, 4))
    stream.hit(2, "flush", 5_000, ("1000075", "995075"))
    stream.settle(2, "folded", "flush", shown=False, ante=(0, 0), jackpot=(0, 5_000))
    return stream.settle(5, "push", "pair", shown=True, ante=(10_000, 0), raise_=(20_000, 0)).close()


def evolution_shared() -> Stream:
    """evolution-live: one hand for all.

    With the dealer's up-card a full house pays the 5+1 20:1, fold or call (001).
    """
    stream = Stream(house("evolution-live"), currency="EUR")
    stream.ante(7, 500, five_plus_one=300).ante(2, 1000).ante(4000, 100, five_plus_one=100).command()
    stream.deal("4d", "4c 4h 8d 8s 2c").fold(7).raise_(2).raise_(4000)
    stream.reveal("high_card", qualified=False, cards="4d Qc Jd 9h 7s")
    stream.settle(2, "dealer_not_qualified", "two_pair", shown=True, ante=(1000, 1000, 1), raise_=(2000, 0))
    stream.settle(7, "folded", "two_pair", shown=True, ante=(0, 0), five_plus_one=(300, 6000, 20))
    legs = {"ante": (100, 100, 1), "raise_": (200, 0), "five_plus_one": (100, 2000, 20)}
    return stream.settle(4000, "dealer_not_qualified", "two_pair", shown=True, **legs).close()


def evolution_bonus_lost() -> Stream:
    """evolution-live: two pair with the up-card is below three of a kind.

    The 5+1 loses, the call wins (001).
    """
    stream = Stream(house("evolution-live"), currency="EUR").ante(1, 1000, five_plus_one=100)
    stream.deal("5d", "4c 4h 8d 8s 2c").raise_(1).reveal("high_card", qualified=True, cards="5d Ac Kd 9h 7s")
    legs = {"ante": (1000, 1000, 1), "raise_": (2000, 4000, 2), "five_plus_one": (0, 0)}
    return stream.settle(1, "win", "two_pair", shown=True, **legs).close()


def cyber_three_hands() -> Stream:
    """cyber: one player, three hands decided in seat order; quads pay $100 (002, reading 3)."""
    stream = Stream(house("cyber"), jackpot={"reset": 1_000_000})
    stream.ante(1, 100, player="p", jackpot=100).ante(2, 200, player="p").ante(
        3, 300, player="p", jackpot=100
    )
    stream.command().deal("As", {1: "9c 9d 9h 9s 2c", 2: "7c 5d 4s 3h 2d", 3: "Kc Jd 8h 6s 3d"})
    stream.raise_(1).raise_(2).fold(3).reveal(
        "high_card", qualified=False, cards=ACE_QUEEN.replace("9s", "8s")
    )
    stream.hit(1, "four_of_a_kind", 10_000, ("2000000.1234", "1990000.1234"))
    unqualified = "dealer_not_qualified"
    legs = {"ante": (100, 100, 1), "raise_": (200, 0), "jackpot": (0, 10_000)}
    stream.settle(1, unqualified, "four_of_a_kind", shown=True, **legs)
    stream.settle(2, unqualified, "high_card", shown=True, ante=(200, 200, 1), raise_=(400, 0))
    return stream.settle(3, "folded", "high_card", shown=True, ante=(0, 0), jackpot=(0, 0)).close()


def czech_exchange() -> Stream:
    """czech: a bought card makes a flush, its bonus is forfeited.

    Another's flush takes 1 000 on a fold (003, reading 13).
    """
    stream = Stream(house("czech"), currency="CZK", raise_win_cap=150_000, bonus_stake=5_000)
    stream.ante(1, 20_000, bonus=5_000).ante(2, 10_000, bonus=5_000).command()
    stream.deal("Kd", {1: "2h 4h 6h 8h Tc", 2: "2s 4s 6s 8s Ts"})
    stream.exchange(1, "Tc", "Th", ("bonus",)).raise_(1).fold(2, by="timeout")
    stream.events[0]["data"]["parameters"]["decision_seconds"] = 20
    stream.reveal("high_card", qualified=True, cards="Ac 9d 7c 3c Kd")
    legs = {"ante": (20_000, 20_000, 1), "raise_": (40_000, 150_000, 5), "fee": (0, 0), "bonus": (0, 0)}
    stream.settle(1, "win", "flush", shown=True, **legs)
    return stream.settle(2, "folded", "flush", shown=False, ante=(0, 0), bonus=(0, 100_000)).close()


def uk_not_qualified() -> Stream:
    """uk-casino: the dealer does not qualify: the raised jackpot hand is shown, the other is not (004)."""
    stream = Stream(house("uk-casino"), currency="GBP", jackpot={"reset": 500_000})
    stream.ante(1, 10_000, jackpot=100).ante(2, 5_000).command()
    stream.deal("As", {1: "Ks Kh 5c 6c 8d", 2: "2c 3d 5h 6h 8h"}).raise_(1).raise_(2)
    stream.reveal("high_card", qualified=False, cards=ACE_QUEEN)
    legs = {"ante": (10_000, 10_000, 1), "raise_": (20_000, 0), "jackpot": (0, 0)}
    stream.settle(1, "dealer_not_qualified", "pair", shown=True, **legs)
    legs = {"ante": (5_000, 5_000, 1), "raise_": (10_000, 0)}
    return stream.settle(2, "dealer_not_qualified", "high_card", shown=False, **legs).close()


def uk_royal() -> Stream:
    """uk-casino: ante 100, raise 200, royal: £10 000 on the raise.

    It is shown without a jackpot bet, as the dealer qualified.
    """
    stream = Stream(house("uk-casino"), currency="GBP").ante(1, 10_000).deal("As", {1: ROYAL}).raise_(1)
    stream.reveal("high_card", qualified=True, cards=ACE_KING)
    legs = {"ante": (10_000, 10_000, 1), "raise_": (20_000, 1_000_000, 50)}
    return stream.settle(1, "win", "royal_flush", shown=True, **legs).close()


def macau_top_up() -> Stream:
    """macau: a full house takes 1 500.

    The meter holds less, the house tops it up, the meter is then 0 (reading 12).
    """
    stream = Stream(house("macau"), currency="HKD", jackpot={"reset": 100_000}).ante(2, 5_000, jackpot=1_000)
    stream.deal("2h", {2: "5c 5d 5h 7c 7d"}).raise_(2).reveal("pair", qualified=True, cards="2h 2d 9h Jc Kc")
    funding = {"from_meter": "100700.5", "from_house": "49299.5"}
    stream.hit(2, "full_house", 150_000, ("100700.5", "0"), **funding)
    legs = {"ante": (5_000, 5_000, 1), "raise_": (10_000, 70_000, 7), "jackpot": (0, 150_000)}
    return stream.settle(2, "win", "full_house", shown=True, **legs).close()


def adelaide_royal() -> Stream:
    """adelaide: a royal takes the whole meter but its fraction, which stays in the new meter (reading 11)."""
    stream = Stream(house("adelaide"), currency="AUD", jackpot={"reset": 1_000_000}).ante(
        6, 1_000, jackpot=250
    )
    stream.deal("As", {6: ROYAL}).raise_(6).reveal("high_card", qualified=True, cards=ACE_KING)
    funding = {"from_meter": "2000175", "restart": "1000000"}
    stream.hit(6, "royal_flush", 2_000_175, ("2000175.75", "1000000.75"), **funding)
    legs = {"ante": (1_000, 1_000, 1), "raise_": (2_000, 200_000, 100), "jackpot": (0, 2_000_175)}
    return stream.settle(6, "win", "royal_flush", shown=True, **legs).close()


def two_up_cards() -> Stream:
    """casino-poker-1982: two dealer cards are up; the better kicker of the dealer wins (reading 6)."""
    stream = Stream(house("casino-poker-1982")).ante(1, 1_000).deal("6c 6d", {1: "6h 6s 5h 5s 9c"}).raise_(1)
    stream.reveal("two_pair", qualified=True, cards="6c 6d 5c 5d Tc")
    return stream.settle(1, "lose", "two_pair", shown=True, ante=(0, 0), raise_=(0, 0)).close()


def all_fold_unrevealed() -> Stream:
    """Where the house says so, the dealer's hand stays closed when all fold.

    A side bet that needs it open loses.
    """
    rules = house("us-casino", play={"reveal_if_all_fold": False})
    rules["side_bets"] = [{**rules["side_bets"][0], "needs_dealer_to_qualify": True}]
    stream = Stream(rules, jackpot={"reset": 1_000_000}).ante(1, 1_000, jackpot=100)
    stream.deal("As", {1: ROYAL}).fold(1)
    return stream.settle(1, "folded", "royal_flush", shown=False, ante=(0, 0), jackpot=(0, 0)).close()


def aggregate_cap() -> Stream:
    """A cap on all of a player's raises together.

    What the first hand leaves, the second can win, the third nothing.
    """
    rules = house("cyber")
    rules["raise_cap"] = {"scope": "aggregate", "amount": "50"}
    stream = Stream(rules)
    for seat in (1, 2, 3):
        stream.ante(seat, 100, player="p")
    stream.deal("As", {1: "9c 9d 9h 9s 2c", 2: "8c 8d 8h 6s 6d", 3: "7c 7d 5h 5s 2d"})
    stream.raise_(1).raise_(2).raise_(3).reveal("high_card", qualified=True, cards="As Kd 4h 3c 2s")
    stream.settle(1, "win", "four_of_a_kind", shown=True, ante=(100, 100, 1), raise_=(200, 4_000, 20))
    stream.settle(2, "win", "full_house", shown=True, ante=(100, 100, 1), raise_=(200, 1_000, 7))
    return stream.settle(3, "win", "two_pair", shown=True, ante=(100, 100, 1), raise_=(200, 0)).close()


def void_misdeal() -> Stream:
    """czech: a misdeal after an exchange and a raise: every stake comes back (003, reading 14)."""
    stream = Stream(house("czech"), currency="CZK", raise_win_cap=150_000, bonus_stake=5_000)
    stream.ante(1, 20_000, bonus=5_000).ante(2, 10_000).command()
    stream.deal("Kd", {1: "2h 4h 6h 8h Tc", 2: "2s 4s 6s 8s Ts"})
    stream.exchange(1, "Tc", "Th", ("bonus",)).raise_(1).void("misdeal_exposed")
    return stream.refund(1).refund(2)


def void_after_reveal() -> Stream:
    """us-casino: a malfunction after the reveal.

    The meter had been hit and lacks what is reversed (reading 15).
    """
    stream = (
        Stream(house("us-casino"), jackpot={"reset": 1_000_000}).ante(1, 1_000, jackpot=100).ante(2, 1_000)
    )
    stream.ante(3, 1_000, jackpot=100).command().deal(
        "As", {1: ROYAL, 2: "2c 3d 5h 6h 8h", 3: "2h 3s 5c 6c 8d"}
    )
    stream.fold(1).raise_(2).raise_(3).reveal("high_card", qualified=True, cards=ACE_KING).command(
        elsewhere=9
    )
    stream.void("malfunction")
    stream.moved_at = stream.position - 4
    stream.reverse(1, ("100", "30"), "70").refund(1).refund(2).reverse(3, ("30", "0"), "30", "40").refund(3)
    return stream


def void_expired() -> Stream:
    """An rng round that nobody staked on expires; its seed is revealed and fits the commitment (G6)."""
    return Stream(plain(), source="rng", bonus_stake=500).command().void("expired")


def void_rng_dealt() -> Stream:
    """An rng round is void after the deal, by a house that voids on a time-out."""
    stream = Stream(plain(play={"on_timeout": "void"}), source="rng", bonus_stake=500).ante(1, 1_000)
    return stream.command().deal_deck().void("timeout").refund(1)


def timed_out(**play: str) -> Stream:
    """A house that folds on a time-out.

    The seat that did not decide is folded, the other one plays on (reading 9).
    """
    stream = (
        Stream(house("us-casino", play=play), decision_seconds=20).ante(1, 1_000).ante(2, 1_000).command()
    )
    stream.deal("As", {1: ROYAL, 2: "2c 3d 5h 6h 8h"}).raise_(1).fold(2, by="timeout")
    stream.reveal("high_card", qualified=True, cards=ACE_KING)
    stream.settle(1, "win", "royal_flush", shown=True, ante=(1_000, 1_000, 1), raise_=(2_000, 200_000, 100))
    return stream.settle(2, "folded", "high_card", shown=False, ante=(0, 0)).close()


def exchange_in_turn() -> Stream:
    """Where seats decide in order, a bought card does not end the seat's turn."""
    stream = (
        Stream(plain(play={"decision_order": "seat"}), bonus_stake=500).ante(1, 100).ante(2, 100).command()
    )
    stream.deal("4h", {1: "2c 2d 2h 3c 9c", 2: "7d 5d 9d Jh Qh"}).exchange(1, "9c", "2s").raise_(1).fold(2)
    stream.reveal("high_card", qualified=True, cards="As Ks 3d 7c 4h")
    legs = {"ante": (100, 100, 1), "raise_": (200, 4_000, 20), "fee": (0, 0)}
    stream.settle(1, "win", "four_of_a_kind", shown=True, **legs)
    return stream.settle(2, "folded", "high_card", shown=False, ante=(0, 0)).close()


HONEST: tuple[Callable[[], Stream], ...] = (
    rng_with_exchanges,
    rng_block_in_one_command,
    rng_shared,
    us_quads,
    us_royal_capped,
    nordic_three_seats,
    evolution_shared,
    evolution_bonus_lost,
    cyber_three_hands,
    czech_exchange,
    uk_not_qualified,
    uk_royal,
    macau_top_up,
    adelaide_royal,
    two_up_cards,
    all_fold_unrevealed,
    aggregate_cap,
    timed_out,
    exchange_in_turn,
    void_misdeal,
    void_after_reveal,
    void_expired,
    void_rng_dealt,
)
