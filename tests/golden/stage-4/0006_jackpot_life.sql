-- A jackpot now counts the side bets on it that are neither settled nor given back: it may be transferred only when
-- there are none. One that was written before learns its count from the rounds that are not finished, where alone
-- there can be such bets.
WITH recorded AS (
    SELECT convert_from(e.data, 'UTF8')::jsonb AS event
    FROM open_rounds AS o JOIN events AS e ON e.stream = 'round-' || o.round_id
), told AS (
    SELECT event ->> 'type' AS type, event ->> 'stream' AS stream, event -> 'data' ->> 'seat' AS seat,
        event -> 'data' ->> 'jackpot_id' AS jackpot_id
    FROM recorded
), unsettled AS (
    SELECT placed.jackpot_id, count(*) AS bets
    FROM told AS placed
    WHERE placed.type = 'SideBetPlaced' AND placed.jackpot_id IS NOT NULL
        AND NOT EXISTS (
            SELECT FROM told AS done
            WHERE done.type IN ('Settled', 'StakeRefunded') AND done.stream = placed.stream AND done.seat = placed.seat
        )
    GROUP BY placed.jackpot_id
)
UPDATE jackpots AS j
SET state = convert_to(
    jsonb_set(convert_from(j.state, 'UTF8')::jsonb, ARRAY['unsettled'], to_jsonb(u.bets))::text, 'UTF8')
FROM unsettled AS u WHERE u.jackpot_id = j.jackpot_id;
