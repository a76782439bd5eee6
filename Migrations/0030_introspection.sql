-- Who is asked about user tokens that are none of Carillon's, as JSON; null: nobody.
ALTER TABLE networks ADD COLUMN introspection text;
