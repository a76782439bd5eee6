-- Reads all of them, while others read and write.
ALTER TABLE outcomes VALIDATE CONSTRAINT outcomes_numbered;
