-- As inbox.trace of 0049: messages to endpoints go on with it, also when they are told once more.
ALTER TABLE relayed ADD COLUMN trace text;
