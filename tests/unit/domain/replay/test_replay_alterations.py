"""Every kind of alteration of a faultless round fails the check that names it, and no check that has nothing to do with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from domain.replay import replay
from tests.unit.domain.replay import honest_rounds as honest
from tests.unit.domain.replay.stream_builder import Stream, find

Events = list[dict[str, Any]]


def failed(stream: Stream, events: Events) -> list[str]:
    """The names of the failed checks."""
    return sorted(replay(events, stream.document, stream.jackpot).failed())


def setting(kind: str, at: int | None = None, /, nth: int = 0, **fields: Any) -> Callable[[Events], None]:
    """Set fields of one event's data; None takes a field away."""

    def alter(events: Events) -> None:
        data = find(events, kind, at, nth)["data"]
        for name, value in fields.items():
            if value is None:
                del data[name]
            else:
                data[name] = value

    return alter


def bet(seat: int, name: str, **fields: Any) -> Callable[[Events], None]:
    """Set fields of one bet of a seat's `Settled`; the balance follows, so that only the bet is wrong."""

    def alter(events: Events) -> None:
        data = find(events, "Settled", seat)["data"]
        leg = next(leg for leg in data["bets"] if leg["bet"] == name)
        before = leg["returned"] + leg["won"]
        leg.update(fields)
        if name != "jackpot":
            data["balance_after"] += leg["returned"] + leg["won"] - before

    return alter


def dropping(kind: str, nth: int = 0) -> Callable[[Events], None]:
    """Leave one event out and close the gap in the versions."""

    def alter(events: Events) -> None:
        events.remove(find(events, kind, nth=nth))
        renumber(events)

    return alter


def moving(kind: str, seat: int | None, to: int) -> Callable[[Events], None]:
    """Move one event to another place of the stream and count anew."""

    def alter(events: Events) -> None:
        event = find(events, kind, seat)
        events.remove(event)
        events.insert(to, event)
        renumber(events)

    return alter


def repeating(kind: str, seat: int | None = None) -> Callable[[Events], None]:
    """Write one event twice."""

    def alter(events: Events) -> None:
        event = find(events, kind, seat)
        events.insert(events.index(event), {**event, "data": dict(event["data"])})
        renumber(events)

    return alter


def renumber(events: Events) -> None:
    """Count versions, positions and time anew, each position apart, so that balances and links are not derivable."""
    for number, event in enumerate(events, 1):
        event["version"], event["position"] = number, 1000 + 2 * number
        event["recorded_at"] = f"2026-11-29T21:24:02.{number:06}Z"


def envelope(nth: int, **fields: Any) -> Callable[[Events], None]:
    """Set fields of one event's envelope."""
    return lambda events: events[nth].update(fields)


def parameters(**fields: Any) -> Callable[[Events], None]:
    """Set parameters of the round's table."""
    return lambda events: events[0]["data"]["parameters"].update(fields)


def seat_renamed(old: int, new: int) -> Callable[[Events], None]:
    """Give a seat another number everywhere."""

    def alter(events: Events) -> None:
        for event in events:
            if event["data"].get("seat") == old:
                event["data"]["seat"] = new

    return alter


def one_player(events: Events) -> None:
    """Let one player hold all seats; the positions are apart, so that balances are not derivable."""
    renumber(events)
    for event in events:
        if "player" in event["data"]:
            event["data"]["player"] = "p"


def card(new: str, old: str) -> Callable[[Events], None]:
    """Replace a card wherever it is written."""

    def alter(events: Events) -> None:
        for event in events:
            cards = event["data"].get("cards", [])
            event["data"].update({"cards": [new if one == old else one for one in cards]} if cards else {})

    return alter


def revealed(events: Events) -> None:
    """Turn up a dealer's hand that stays closed."""
    event = find(honest.us_quads().events, "DealerQualified")
    events.insert(events.index(find(events, "Settled")), event)
    renumber(events)


def exchanged(events: Events) -> None:
    """Sell a card at a house that sells none."""
    event = find(honest.czech_exchange().events, "CardExchanged")
    event["data"] |= {"player": "p-1", "discard": "9c", "drawn": "8c", "forfeited": [], "fee": 1_000}
    event["stream"] = "round-r-1"
    events.insert(events.index(find(events, "Raised")), event)
    renumber(events)


def voided(events: Events) -> None:
    """Declare a round void that has paid already, and refund it."""
    refunds = [find(honest.void_misdeal().events, kind) for kind in ("RoundVoided", "StakeRefunded")]
    refunds[0]["data"]["cause"] = "malfunction"
    refunds[1]["data"] |= {"seat": 3, "player": "p-3"}
    events[-1:] = [{**refund, "stream": "round-r-1"} for refund in refunds]
    renumber(events)


def undeserved(events: Events) -> None:
    """Pay an award that no hand earned."""
    settled = find(events, "Settled", 1)
    data = find(honest.us_quads().events, "JackpotHit")["data"]
    event = {**settled, "type": "JackpotHit", "data": {**data, "seat": 1, "player": "p-1"}}
    events.insert(events.index(settled), event)
    renumber(events)


def hit(seat: int, **fields: Any) -> Callable[[Events], None]:
    """Set fields of a seat's award; what follows for balances is left alone."""
    return setting("JackpotHit", seat, **fields)


ALTERATIONS: dict[str, tuple[Callable[[], Stream], Callable[[Events], Any], tuple[str, ...]]] = {
    "version_skipped": (honest.uk_royal, envelope(3, version=5), ('versions_gap_free',)),
    "position_backwards": (honest.uk_royal, envelope(3, position=90), ('positions_increasing',)),
    "time_stands_still": (honest.uk_royal, envelope(3, recorded_at="2026-11-29T21:24:01.000021Z"), ('recorded_at_increasing',)),
    "another_stream": (honest.uk_royal, envelope(3, stream="round-r-2"), ('one_stream',)),
    "opened_twice": (honest.uk_royal, repeating("RoundOpened"), ('opened_first', 'phases')),
    "opening_missing": (honest.uk_royal, dropping("RoundOpened"), ('finished', 'opened_first', 'phases')),
    "end_cut_off": (honest.uk_royal, dropping("RoundClosed"), ('finished',)),
    "refund_cut_off": (honest.void_misdeal, dropping("StakeRefunded", 1), ('finished', 'nothing_on_game', 'refund_order', 'refunded.seat_2')),
    "ruleset_hash": (honest.uk_royal, lambda events: events[0]["data"]["ruleset"].update(sha256="0" * 64), ('ruleset_hash',)),
    "ruleset_id": (honest.uk_royal, lambda events: events[0]["data"]["ruleset"].update(id="x"), ('ruleset_id',)),
    "jackpot_reset": (honest.macau_top_up, lambda events: events[0]["data"]["jackpot"].update(reset=1), ('jackpot_parameters',)),
    "jackpot_hash": (honest.macau_top_up, lambda events: events[0]["data"]["jackpot"].update(sha256="0" * 64), ('jackpot_parameters_hash',)),
    "currency": (honest.uk_royal, setting("RoundOpened", currency="USD"), ('currency_offered',)),
    "cap_missing": (honest.czech_exchange, lambda events: events[0]["data"]["parameters"].pop("raise_win_cap"), ('settled.seat_1.raise', 'table_parameters')),
    "bonus_stake_missing": (honest.czech_exchange, lambda events: events[0]["data"]["parameters"].pop("bonus_stake"), ('side_bet_stakes', 'table_parameters')),
    "limits_crossed": (honest.uk_royal, parameters(min_side_bet=500, max_side_bet=400), ('table_parameters',)),
    "raise_before_deal": (honest.uk_royal, moving("Raised", 1, 2), ('phases',)),
    "ante_after_no_more_bets": (honest.uk_not_qualified, moving("AntePlaced", 2, 4), ('phases',)),
    "seat_taken": (honest.uk_royal, repeating("AntePlaced"), ('conservation', 'phases')),
    "side_bet_twice": (honest.macau_top_up, repeating("SideBetPlaced"), ('conservation', 'meter_chain', 'phases')),
    "side_bet_before_ante": (honest.macau_top_up, moving("SideBetPlaced", 2, 1), ('meter_chain', 'phases', 'settled.seat_2.bets', 'settlement_order')),
    "side_bet_of_another_seat": (honest.cyber_three_hands, moving("SideBetPlaced", 1, 4), ('meter_chain', 'phases', 'settled.seat_1.bets', 'settlement_order')),
    "dealt_twice": (honest.uk_royal, repeating("Dealt", 1), ('phases',)),
    "dealt_to_nobody": (honest.uk_royal, setting("Dealt", 1, seat=2), ('dealt.seat_1', 'phases', 'players', 'settled.seat_1')),
    "dealt_to_the_table": (honest.uk_royal, setting("Dealt", 1, seat=None, to="shared"), ('dealt.seat_1', 'dealt_hands')),
    "dealt_seat_to_shared": (honest.evolution_shared, setting("Dealt", to="seat", seat=2), ('dealt.shared', 'dealt_hands', 'phases', 'settled.seat_4000', 'settled.seat_7')),
    "decided_twice": (honest.uk_royal, repeating("Raised"), ('conservation', 'phases')),
    "exchanged_twice": (honest.czech_exchange, repeating("CardExchanged"), ('conservation', 'phases')),
    "exchanged_after_raise": (honest.czech_exchange, moving("CardExchanged", 1, 10), ('phases', 'settled.seat_1.ante', 'settled.seat_1.bets', 'settled.seat_1.category', 'settled.seat_1.raise', 'settled.seat_1.result')),
    "discard_not_held": (honest.czech_exchange, setting("CardExchanged", discard="Jd"), ('phases', 'settled.seat_1.ante', 'settled.seat_1.category', 'settled.seat_1.raise', 'settled.seat_1.result')),
    "settled_twice": (honest.uk_royal, repeating("Settled"), ('conservation', 'phases')),
    "hit_twice": (honest.macau_top_up, repeating("JackpotHit"), ('meter_chain', 'phases')),
    "void_twice": (honest.void_misdeal, repeating("RoundVoided"), ('phases',)),
    "void_in_the_middle_of_a_deal": (honest.void_rng_dealt, dropping("Dealt", 1), ('phases',)),
    "void_after_a_payment": (honest.us_quads, voided, ('conservation', 'meter_chain', 'phases', 'refund_order', 'refunded.seat_3', 'reversed.seat_3')),
    "refunded_twice": (honest.void_misdeal, repeating("StakeRefunded"), ('conservation', 'phases')),
    "reversed_twice": (honest.void_after_reveal, repeating("ContributionReversed", 1), ('meter_chain', 'phases')),
    "no_antes": (honest.uk_royal, dropping("AntePlaced"), ('betting_closed.seats', 'conservation', 'phases', 'players')),
    "hands_out_of_order": (honest.uk_not_qualified, moving("Dealt", 2, 5), ('phases',)),
    "reveal_before_decision": (honest.uk_not_qualified, moving("DealerQualified", None, 8), ('phases',)),
    "reveal_missing": (honest.uk_royal, dropping("DealerQualified"), ('dealer_revealed', 'settled.seat_1.raise', 'settled.seat_1.result', 'settled.seat_1.shown')),
    "reveal_of_a_closed_hand": (honest.all_fold_unrevealed, revealed, ('dealer_revealed', 'jackpot.seat_1', 'settlement_order')),
    "a_seat_never_decides": (honest.cyber_three_hands, dropping("Folded"), ('meter_chain', 'phases', 'settled.seat_3.ante', 'settled.seat_3.result')),
    "never_settled": (honest.uk_royal, dropping("Settled"), ('nothing_on_game', 'phases', 'settled.seat_1', 'settlement_order')),
    "settled_after_close": (honest.uk_royal, moving("RoundClosed", None, 7), ('phases',)),
    "betting_closed_count": (honest.uk_royal, setting("BettingClosed", seats=2), ('betting_closed.seats',)),
    "another_player": (honest.uk_royal, setting("Settled", player="p-2"), ('players',)),
    "seat_nobody_took": (honest.uk_royal, setting("Raised", seat=2), ('conservation', 'nothing_on_game', 'phases', 'players', 'settled.seat_1.bets', 'settled.seat_1.shown')),
    "seat_beyond_house": (honest.uk_royal, seat_renamed(1, 8), ('seats_within_house',)),
    "a_second_hand": (honest.uk_not_qualified, one_player, ('hands_per_player',)),
    "out_of_turn": (honest.cyber_three_hands, moving("Raised", 2, 10), ('decision_order', 'meter_chain', 'phases')),
    "timeout_where_none": (honest.czech_exchange, lambda events: events[0]["data"]["parameters"].pop("decision_seconds"), ('decided_by',)),
    "timeout_raises": (honest.czech_exchange, setting("Raised", decided_by="timeout"), ('decided_by',)),
    "void_cause_of_another_house": (honest.void_after_reveal, setting("RoundVoided", cause="misdeal_count"), ('void_cause',)),
    "void_cause_timeout": (honest.void_misdeal, setting("RoundVoided", cause="timeout"), ('void_cause',)),
    "void_cause_expired": (honest.void_misdeal, setting("RoundVoided", cause="expired"), ('void_cause',)),
    "void_cause_unstaked_timeout": (honest.void_expired, setting("RoundVoided", cause="timeout"), ('void_cause',)),
    "ante_too_high": (honest.uk_royal, parameters(max_ante=9_999), ('ante_limits',)),
    "ante_too_low": (honest.uk_royal, parameters(min_ante=10_001), ('ante_limits',)),
    "ante_above_the_house": (honest.uk_royal, setting("AntePlaced", amount=10_001), ('ante_limits', 'conservation', 'raise_multiple', 'settled.seat_1.ante')),
    "side_bet_not_offered": (honest.macau_top_up, setting("SideBetPlaced", bet="bonus"), ('contributions', 'settled.seat_2.bets', 'settlement_order', 'side_bets_offered')),
    "side_bet_without_jackpot": (honest.macau_top_up, lambda events: events[0]["data"].pop("jackpot"), ('contributions', 'jackpot.seat_2', 'settled.seat_2.jackpot', 'side_bets_offered')),
    "side_bet_stake": (honest.macau_top_up, setting("SideBetPlaced", amount=999), ('balance_after', 'conservation', 'contributions', 'settled.seat_2.jackpot', 'side_bet_stakes')),
    "free_side_bet_limits": (honest.evolution_shared, parameters(max_side_bet=299), ('side_bet_stakes',)),
    "contribution": (honest.macau_top_up, setting("SideBetPlaced", contribution="700.1"), ('contributions',)),
    "contribution_to_another_jackpot": (honest.macau_top_up, setting("SideBetPlaced", jackpot_id="j-2"), ('contributions',)),
    "contribution_missing": (honest.macau_top_up, setting("SideBetPlaced", contribution=None), ('contributions', 'meter_chain')),
    "contribution_of_another_bet": (honest.evolution_bonus_lost, setting("SideBetPlaced", contribution="70"), ('contributions',)),
    "raise_multiple": (honest.uk_royal, setting("Raised", amount=20_001), ('balance_after', 'conservation', 'raise_multiple', 'settled.seat_1.raise')),
    "exchange_fee": (honest.czech_exchange, setting("CardExchanged", fee=10_000), ('balance_after', 'conservation', 'exchange', 'settled.seat_1.exchange_fee')),
    "exchange_where_none_is_sold": (honest.two_up_cards, exchanged, ('conservation', 'exchange', 'settled.seat_1.bets', 'settled.seat_1.exchange_fee')),
    "exchange_forfeits": (honest.czech_exchange, setting("CardExchanged", forfeited=[]), ('exchange',)),
    "seed": (honest.rng_block_in_one_command, setting("RoundClosed", deck_seed="00" * 48), ('dealer_cards', 'dealt.dealer', 'dealt.seat_3', 'deck_commitment')),
    "seed_missing": (honest.rng_block_in_one_command, setting("RoundClosed", deck_seed=None), ('deck_seed_revealed',)),
    "seed_missing_exchange": (honest.rng_with_exchanges, setting("RoundClosed", deck_seed=None), ('deck_seed_revealed',)),
    "seed_of_a_table": (honest.uk_royal, setting("RoundClosed", deck_seed="00" * 48), ('no_deck',)),
    "commitment": (honest.rng_block_in_one_command, setting("RoundOpened", deck_commitment="0" * 64), ('deck_commitment',)),
    "commitment_missing": (honest.rng_block_in_one_command, setting("RoundOpened", deck_commitment=None), ('deck_commitment',)),
    "commitment_of_a_table": (honest.uk_royal, setting("RoundOpened", deck_commitment="0" * 64), ('no_deck',)),
    "algorithm": (honest.rng_block_in_one_command, setting("RoundOpened", deck_algorithm="stud-deck-2"), ('deck_algorithm',)),
    "blind_client_seed": (honest.rng_block_in_one_command, setting("AntePlaced", client_seed="x"), ('commitment_timing', 'dealer_cards', 'dealt.dealer', 'dealt.seat_3')),
    "client_seed": (honest.rng_with_exchanges, setting("AntePlaced", 2, client_seed="x"), ('dealer_cards', 'dealt.dealer', 'dealt.seat_1', 'dealt.seat_2', 'dealt.seat_4', 'exchanged.seat_1', 'exchanged.seat_4')),
    "another_round": (honest.rng_block_in_one_command, lambda events: [event.update(stream="round-r-2") for event in events], ('dealer_cards', 'dealt.dealer', 'dealt.seat_3', 'deck_commitment')),
    "dealt_card": (honest.rng_block_in_one_command, setting("Dealt", 3, cards=["8c", "5d", "6d", "Th", "3c"]), ('dealt.seat_3',)),
    "dealt_order": (honest.rng_block_in_one_command, setting("Dealt", 3, cards=["5d", "8c", "6d", "Th", "3s"]), ('dealt.seat_3',)),
    "dealt_index": (honest.rng_block_in_one_command, setting("Dealt", 3, indices=[0, 1, 2, 3, 5]), ('dealt.seat_3',)),
    "dealt_index_missing": (honest.rng_block_in_one_command, setting("Dealt", 3, indices=None), ('dealt.seat_3',)),
    "dealt_index_of_a_table": (honest.uk_royal, setting("Dealt", 1, indices=[0, 1, 2, 3, 4]), ('dealt.seat_1',)),
    "dealt_four": (honest.uk_royal, setting("Dealt", 1, cards=["Ac", "Kc", "Qc", "Jc"]), ('dealt.seat_1', 'settled.seat_1')),
    "hand_missing": (honest.uk_royal, dropping("Dealt"), ('dealt.seat_1', 'phases', 'settled.seat_1')),
    "dealer_deal_missing": (honest.uk_royal, dropping("Dealt", 1), ('phases',)),
    "up_card": (honest.rng_block_in_one_command, setting("Dealt", nth=1, cards=["Tc"]), ('dealer_up_cards', 'dealt.dealer')),
    "up_indices": (honest.uk_royal, setting("Dealt", nth=1, up_indices=[1]), ('dealer_up_indices',)),
    "up_card_hidden": (honest.uk_royal, setting("Dealt", nth=1, cards=["2d"]), ('dealer_up_cards',)),
    "dealer_cards": (honest.rng_block_in_one_command, setting("DealerQualified", cards=["5h", "Tc", "Qc", "Qd", "9h"]), ('dealer_cards',)),
    "dealer_indices": (honest.rng_block_in_one_command, setting("DealerQualified", indices=[5, 6, 7, 9, 8]), ('dealer_cards',)),
    "burn_index": (honest.rng_with_exchanges, setting("CardExchanged", 4, burn_index=19), ('exchanged.seat_4',)),
    "drawn_index": (honest.rng_with_exchanges, setting("CardExchanged", 4, drawn_index=20), ('exchanged.seat_4',)),
    "drawn_card": (honest.rng_with_exchanges, setting("CardExchanged", 4, drawn="Qs"), ('exchanged.seat_4',)),
    "drawn_twice": (honest.czech_exchange, setting("CardExchanged", drawn="2s"), ('cards_distinct', 'settled.seat_1.category', 'settled.seat_1.raise')),
    "drawn_from_own_hand": (honest.czech_exchange, setting("CardExchanged", drawn="2h"), ('cards_distinct', 'settled.seat_1')),
    "card_twice": (honest.uk_royal, setting("DealerQualified", cards=["As", "Kc", "4h", "3c", "2s"]), ('cards_distinct',)),
    "up_card_in_the_hand": (honest.evolution_shared, setting("Dealt", nth=1, cards=["4c"]), ('dealer_up_cards', 'settled.seat_4000.five_plus_one', 'settled.seat_7.five_plus_one')),
    "dealer_category": (honest.uk_royal, setting("DealerQualified", category="pair"), ('dealer.category',)),
    "dealer_qualified": (honest.uk_royal, setting("DealerQualified", qualified=False), ('dealer.qualified',)),
    "dealer_hand_at_the_boundary": (honest.uk_not_qualified, setting("DealerQualified", qualified=True), ('dealer.qualified',)),
    "result": (honest.uk_royal, setting("Settled", result="lose"), ('settled.seat_1.result',)),
    "category": (honest.uk_royal, setting("Settled", category="straight_flush"), ('settled.seat_1.category',)),
    "category_missing": (honest.uk_royal, setting("Settled", category=None), ('settled.seat_1.category',)),
    "shown_though_not_called": (honest.nordic_three_seats, setting("Settled", 2, shown=True), ('settled.seat_2.shown',)),
    "shown_without_jackpot": (honest.uk_not_qualified, setting("Settled", 2, shown=True), ('settled.seat_2.shown',)),
    "jackpot_hand_not_shown": (honest.uk_not_qualified, setting("Settled", 1, shown=False), ('settled.seat_1.shown',)),
    "folded_not_shown": (honest.cyber_three_hands, setting("Settled", 3, shown=False), ('settled.seat_3.shown',)),
    "ante_returned_not_paid": (honest.uk_not_qualified, bet(1, "ante", won=0), ('settled.seat_1.ante',)),
    "raise_paid_though_not_qualified": (honest.uk_not_qualified, bet(1, "raise", won=20_000), ('settled.seat_1.raise',)),
    "raise_kept_though_not_qualified": (honest.uk_not_qualified, bet(1, "raise", returned=0), ('settled.seat_1.raise',)),
    "raise_above_the_cap": (honest.us_quads, bet(3, "raise", won=4_000_000), ('settled.seat_3.raise',)),
    "raise_odds": (honest.uk_royal, bet(1, "raise", odds=100), ('settled.seat_1.raise',)),
    "raise_by_another_table": (honest.uk_royal, bet(1, "raise", won=2_000_000, odds=100), ('settled.seat_1.raise',)),
    "push_returns_one_bet": (honest.nordic_three_seats, bet(5, "raise", returned=0), ('settled.seat_5.raise',)),
    "tie_paid_as_win": (honest.nordic_three_seats, bet(5, "ante", won=10_000, odds=1), ('settled.seat_5.ante',)),
    "fold_returned": (honest.nordic_three_seats, bet(2, "ante", returned=10_000), ('settled.seat_2.ante',)),
    "stake_of_a_bet": (honest.uk_royal, bet(1, "ante", stake=9_000), ('conservation', 'settled.seat_1.ante')),
    "exchange_fee_returned": (honest.czech_exchange, bet(1, "exchange_fee", returned=20_000), ('settled.seat_1.exchange_fee',)),
    "forfeited_bonus_paid": (honest.czech_exchange, bet(1, "bonus", won=100_000), ('settled.seat_1.bonus',)),
    "bonus_unpaid": (honest.czech_exchange, bet(2, "bonus", won=0), ('settled.seat_2.bonus',)),
    "five_plus_one_unpaid": (honest.evolution_shared, bet(7, "five_plus_one", returned=0, won=0), ('settled.seat_7.five_plus_one',)),
    "five_plus_one_for_one": (honest.evolution_shared, bet(7, "five_plus_one", returned=0), ('settled.seat_7.five_plus_one',)),
    "jackpot_unpaid_on_the_bet": (honest.us_quads, bet(3, "jackpot", won=0), ('settled.seat_3.jackpot',)),
    "bet_left_out": (honest.us_quads, lambda events: find(events, "Settled")["data"]["bets"].pop(), ('conservation', 'settled.seat_3.bets', 'settled.seat_3.jackpot')),
    "bet_added": (honest.uk_royal, lambda events: find(events, "Settled")["data"]["bets"].append({"bet": "bonus", "stake": 0, "returned": 0, "won": 0}), ('settled.seat_1.bets',)),
    "bets_out_of_order": (honest.us_quads, lambda events: find(events, "Settled")["data"]["bets"].reverse(), ('settled.seat_3.bets',)),
    "award": (honest.us_quads, hit(3, award=60_000, from_meter="60000", meter_after="1174567.5"), ('balance_after', 'jackpot.seat_3.award', 'jackpot.seat_3.funding', 'jackpot.seat_3.meter_after')),
    "award_by_another_category": (honest.us_quads, hit(3, category="full_house"), ('jackpot.seat_3.award',)),
    "award_of_another_jackpot": (honest.us_quads, hit(3, jackpot_id="j-2"), ('jackpot.seat_3.award',)),
    "award_missing": (honest.us_quads, dropping("JackpotHit"), ('jackpot.seat_3', 'settled.seat_3.jackpot', 'settlement_order')),
    "award_undeserved": (honest.uk_not_qualified, lambda events: undeserved(events), ('meter_chain', 'settlement_order')),
    "award_after_settlement": (honest.us_quads, moving("JackpotHit", 3, 9), ('jackpot.seat_3', 'meter_chain', 'phases', 'settled.seat_3.jackpot', 'settlement_order')),
    "funding": (honest.macau_top_up, hit(2, from_meter="100700", from_house="49300"), ('conservation', 'jackpot.seat_2.funding')),
    "restart_missing": (honest.adelaide_royal, hit(6, restart=None), ('conservation', 'jackpot.seat_6.funding')),
    "restart_undue": (honest.us_quads, hit(3, restart="10"), ('conservation', 'jackpot.seat_3.funding')),
    "meter_after": (honest.us_quads, hit(3, meter_after="1184567"), ('conservation', 'jackpot.seat_3.meter_after')),
    "meter_lost_its_fraction": (honest.adelaide_royal, hit(6, meter_after="1000000"), ('conservation', 'jackpot.seat_6.meter_after')),
    "link_to_no_movement": (honest.us_quads, hit(3, previous_position=102), ('meter_chain',)),
    "link_to_another_event": (honest.us_quads, hit(3, previous_position=104), ('meter_chain',)),
    "link_too_early": (honest.us_quads, hit(3, previous_position=90), ('meter_chain',)),
    "link_to_the_future": (honest.us_quads, hit(3, previous_position=5_000), ('meter_chain',)),
    "reversal_meter": (honest.void_after_reveal, setting("ContributionReversed", 3, meter_before="40", meter_after="10"), ('meter_chain', 'reversed.seat_3')),
    "reversal_split": (honest.void_after_reveal, setting("ContributionReversed", 1, from_meter="60", from_house="10", meter_after="40"), ('meter_chain', 'reversed.seat_1')),
    "reversal_amount": (honest.void_after_reveal, setting("ContributionReversed", 1, amount="60", from_meter="60", meter_after="40"), ('meter_chain', 'reversed.seat_1')),
    "reversal_missing": (honest.void_after_reveal, dropping("ContributionReversed", 1), ('meter_chain', 'refund_order', 'reversed.seat_3')),
    "reversal_late": (honest.void_after_reveal, moving("ContributionReversed", 3, 17), ('meter_chain', 'refund_order')),
    "refund_amount": (honest.void_misdeal, setting("StakeRefunded", 1, amount=85_001), ('balance_after', 'conservation', 'refunded.seat_1')),
    "refund_bet": (honest.void_misdeal, lambda events: find(events, "StakeRefunded", 1)["data"]["bets"].pop(), ('balance_after', 'conservation', 'refunded.seat_1')),
    "balance_after": (honest.uk_royal, setting("Settled", balance_after=5), ('balance_after',)),
    "balance_created": (honest.uk_royal, setting("Raised", balance_after=100_000_000), ('balance_after',)),
    "first_balance_below_the_award": (honest.adelaide_royal, setting("Settled", balance_after=1), ('balance_after',)),
    "settled_less_than_staked": (honest.uk_royal, setting("AntePlaced", amount=9_999), ('conservation', 'raise_multiple', 'settled.seat_1.ante')),
}


@pytest.mark.parametrize(("play", "alter", "checks"), ALTERATIONS.values(), ids=ALTERATIONS)
def test_an_alteration_fails_the_check_that_names_it(
    play: Callable[[], Stream], alter: Callable[[Events], None], checks: tuple[str, ...]
) -> None:
    """An altered round fails exactly the checks that this alteration is about."""
    stream = play()
    events = stream.copy()
    alter(events)

    assert failed(stream, events) == sorted(checks)


def test_a_house_that_voids_on_a_time_out_folds_nobody() -> None:
    """A fold by the clock is legal only where the house's rule is to fold."""
    stream = honest.timed_out(on_timeout="void")

    assert failed(stream, stream.events) == ["decided_by"]


def test_a_problem_names_its_event() -> None:
    """A check over many events says which of them are at fault, and why."""
    stream = honest.uk_royal()
    events = stream.copy()
    repeating("Settled")(events)

    check = next(check for check in replay(events, stream.document).checks if check.check == "phases")

    assert check.actual == [{"version": 9, "type": "Settled", "problem": "the seat has nothing to settle"}]
