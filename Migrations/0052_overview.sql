-- What an operator asks of many networks at once: how many events were accepted, and how many posts refused, without reading the figures.
-- Rows of former releases do not say it.
ALTER TABLE statistics_minutes ADD COLUMN accepted bigint, ADD COLUMN refused bigint;
