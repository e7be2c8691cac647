-- What is derived from the events has a SQL schema of its own (infrastructure/read_side.py): its tables come and go with
-- the versions of their projections, and the application's role makes them. Both of these are derived again there.
DROP TABLE player_rounds;
DROP TABLE projections;
