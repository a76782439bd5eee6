-- By themselves: nobody can read a table while an index of it goes, and a migration that has built something for long must not have
-- to wait for readers at its end.
DROP INDEX users_tombstones;
DROP INDEX channels_tombstones;
