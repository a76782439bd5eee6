-- Of how many devices one is remembered in lane_reports while a lane's brake is on, so that large lanes are judged by a sample.
ALTER TABLE lanes ADD COLUMN reported_part integer NOT NULL DEFAULT 1;
