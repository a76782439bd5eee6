-- Whether a channel is a conversation of two; null: nobody has said.
ALTER TABLE channels ADD COLUMN direct boolean;
