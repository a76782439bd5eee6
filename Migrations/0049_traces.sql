-- Where an event stands in a trace of its sender's (W3C Trace Context); null: nowhere. A file for each table, so that none is locked
-- while another is waited for.
ALTER TABLE inbox ADD COLUMN trace text;
