-- The functions of this domain as they are now: applied after the migrations whenever this file changed. A function whose arguments
-- or result change is dropped by a migration first.

-- Lists of one user read payments by this column.
CREATE OR REPLACE FUNCTION payment_of_user() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.user_id := (SELECT user_id FROM orders WHERE id = NEW.order_id);
  RETURN NEW;
END $$;
