"""A seeded simulation of one hand against the dealer that has to agree with the exact odds.

Cards come from a generator, decisions are the best ones of `domain.odds`, and everything that is paid goes
through the code that settles real rounds: hands are ranked by `domain.hands`, every bet is settled by
`domain.settlement`, and what a jackpot pays by `domain.jackpots`, from a meter that stands still. Rounds of
a portion with the same decision and hands of the same worth are settled once and counted as often as they
occur: settling is pure, and depends on nothing else.

`deals` deals, `decisions` decides, `playing` settles and adds up, `running` does so in processes; `theory`
has what every ending of a bet should be, and `comparing` whether it is; `command` is the command,
`scripts/odds --monte-carlo`.
"""
