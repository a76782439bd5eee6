-- What an endpoint said of an event before anybody was notified of it. In the inbox the first line is what is shown, and the
-- second one, if any, what is changed of the notification, which holds people's words: the log of events keeps the first only.
ALTER TABLE inbox
    ADD COLUMN interception text,
    ADD COLUMN intercepted  integer NOT NULL DEFAULT 0;   -- users whom all levels allowed and the endpoint left out
ALTER TABLE events
    ADD COLUMN interception text,
    ADD COLUMN intercepted  integer NOT NULL DEFAULT 0;
