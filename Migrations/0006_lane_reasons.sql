-- Why a group waits, where that is for its lane and not for itself: people see it, and what waited for a credential can be
-- told from what waits for its own next attempt.
ALTER TABLE deliveries ADD COLUMN lane_reason text;
