-- Exact odds of published rule sets, as they are computed beside the ledger (infrastructure/odds): what a version
-- returns at an ante, and the chart of its best decisions. Both follow from the rule set and these terms alone, and are
-- computed again where they are missing, or were by an older method.
--
-- The most a raise wins and the stake of a bonus may be a table's own, and then are part of what the figures are of;
-- 0 stands for none.
CREATE TABLE odds_figures (
    ruleset_id text COLLATE "C" NOT NULL,
    version integer NOT NULL CHECK (version > 0),
    currency text COLLATE "C" NOT NULL CHECK (length(currency) = 3),
    ante bigint NOT NULL CHECK (ante > 0),
    raise_win_cap bigint NOT NULL CHECK (raise_win_cap >= 0),
    bonus_stake bigint NOT NULL CHECK (bonus_stake >= 0),
    method integer NOT NULL CHECK (method > 0),
    favours_player boolean NOT NULL,
    figures bytea NOT NULL,
    chart bytea NOT NULL,
    PRIMARY KEY (ruleset_id, version, currency, ante, raise_win_cap, bonus_stake)
);

GRANT SELECT (ruleset_id, version, currency, ante, raise_win_cap, bonus_stake, method, favours_player, figures, chart),
    INSERT (ruleset_id, version, currency, ante, raise_win_cap, bonus_stake, method, favours_player, figures, chart),
    UPDATE (method, favours_player, figures, chart) ON odds_figures TO {app};
GRANT SELECT ON odds_figures TO {auditor};
