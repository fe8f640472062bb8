CREATE TABLE "order_figure_deltas" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "order_figure_deltas_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"day" date NOT NULL,
	"orders" integer DEFAULT 0 NOT NULL,
	"paid" integer DEFAULT 0 NOT NULL,
	"revenue" numeric(16, 2) DEFAULT '0' NOT NULL
);
--> statement-breakpoint
CREATE TABLE "order_figures" (
	"day" date PRIMARY KEY NOT NULL,
	"orders" bigint NOT NULL,
	"paid" bigint NOT NULL,
	"revenue" numeric(16, 2) NOT NULL
);
--> statement-breakpoint
CREATE TABLE "order_product_names" (
	"name" text PRIMARY KEY NOT NULL
);
--> statement-breakpoint
DROP INDEX "orders_paid_at";--> statement-breakpoint
DROP INDEX "orders_created";--> statement-breakpoint
DROP INDEX "users_invited_by";--> statement-breakpoint
DROP INDEX "orders_user";--> statement-breakpoint
DROP INDEX "orders_product";--> statement-breakpoint
DROP INDEX "orders_search";--> statement-breakpoint
DROP INDEX "coupons_holder";--> statement-breakpoint
DROP INDEX "point_records_user";--> statement-breakpoint
CREATE INDEX "users_listed" ON "users" USING btree ("id") WHERE "users"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "proxies_live" ON "proxies" USING btree ("order_id","id") WHERE "proxies"."state" = 'live';--> statement-breakpoint
CREATE INDEX "orders_listed" ON "orders" USING btree ("id") WHERE "orders"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "orders_user_product" ON "orders" USING btree ("user_id","product_name","id") WHERE "orders"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "orders_product_name" ON "orders" USING btree ("product_name","id") WHERE "orders"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "orders_state_listed" ON "orders" USING btree ("state","id") WHERE "orders"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "orders_paid_listed" ON "orders" USING btree ("id") WHERE "orders"."deleted_at" is null and "orders"."paid_at" is not null;--> statement-breakpoint
CREATE INDEX "orders_unpaid_listed" ON "orders" USING btree ("id") WHERE "orders"."deleted_at" is null and "orders"."paid_at" is null;--> statement-breakpoint
CREATE INDEX "orders_undelivered" ON "orders" USING btree ("id") WHERE "orders"."deleted_at" is null and "orders"."paid_at" is not null and "orders"."delivery_num" = 0 and "orders"."state" <> 'expired';--> statement-breakpoint
CREATE INDEX "orders_by_expiry" ON "orders" USING btree (coalesce("expired_at", 'infinity'),"id") WHERE "orders"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "orders_by_amount" ON "orders" USING btree ("amount","id") WHERE "orders"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "orders_platform_number" ON "orders" USING btree ("platform_order_number");--> statement-breakpoint
CREATE INDEX "gift_cards_exchanged" ON "gift_cards" USING btree ("is_exchanged","id");--> statement-breakpoint
CREATE INDEX "gift_cards_mount" ON "gift_cards" USING btree ("mount","id");--> statement-breakpoint
CREATE INDEX "gift_cards_point" ON "gift_cards" USING btree ("point","id");--> statement-breakpoint
CREATE INDEX "users_invited_by" ON "users" USING btree ("invited_by","id","deleted_at");--> statement-breakpoint
CREATE INDEX "orders_user" ON "orders" USING btree ("user_id","id","deleted_at");--> statement-breakpoint
CREATE INDEX "orders_product" ON "orders" USING btree ("product_id","id","deleted_at");--> statement-breakpoint
CREATE INDEX "orders_search" ON "orders" USING gin ("order_id" gin_trgm_ops);--> statement-breakpoint
CREATE INDEX "coupons_holder" ON "coupons" USING btree ("holder_id","id");--> statement-breakpoint
CREATE INDEX "point_records_user" ON "point_records" USING btree ("user_id","id");--> statement-breakpoint
-- Figures of orders: every change inserts a delta and so waits for nobody (docs/adr/kept-figures.md).
CREATE FUNCTION order_figures_placed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO order_figure_deltas (day, orders, paid)
  SELECT (created_at AT TIME ZONE 'UTC')::date, count(*), count(paid_at) FROM added WHERE deleted_at IS NULL GROUP BY 1;
  -- Looked up first: only a name that is new could make two orders wait for each other.
  INSERT INTO order_product_names (name)
  SELECT DISTINCT product_name FROM added
  WHERE NOT EXISTS (SELECT 1 FROM order_product_names n WHERE n.name = added.product_name)
  ORDER BY 1 ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE FUNCTION order_figures_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO order_figure_deltas (day, orders, paid)
  SELECT day, sum(orders), sum(paid) FROM (VALUES
    ((OLD.created_at AT TIME ZONE 'UTC')::date, -1, -(OLD.paid_at IS NOT NULL)::int, OLD.deleted_at IS NULL),
    ((NEW.created_at AT TIME ZONE 'UTC')::date, 1, (NEW.paid_at IS NOT NULL)::int, NEW.deleted_at IS NULL)
  ) v (day, orders, paid, listed) WHERE listed GROUP BY day HAVING sum(orders) <> 0 OR sum(paid) <> 0;
  IF (OLD.deleted_at IS NULL) <> (NEW.deleted_at IS NULL) THEN
    INSERT INTO order_figure_deltas (day, revenue)
    SELECT (created_at AT TIME ZONE 'UTC')::date, sum(CASE WHEN NEW.deleted_at IS NULL THEN amount ELSE -amount END)
    FROM payments WHERE order_id = NEW.id AND accepted GROUP BY 1;
  END IF;
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE FUNCTION order_figures_removed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO order_figure_deltas (day, orders, paid)
  SELECT (created_at AT TIME ZONE 'UTC')::date, -count(*), -count(paid_at) FROM removed WHERE deleted_at IS NULL GROUP BY 1;
  RETURN NULL;
END $$;--> statement-breakpoint
-- The order is locked: one that is being deleted takes its payments along, those that are just being added too.
CREATE FUNCTION order_figures_earned() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO order_figure_deltas (day, revenue)
  SELECT (p.created_at AT TIME ZONE 'UTC')::date, sum(p.amount) FROM added p JOIN (
    SELECT id FROM orders WHERE id IN (SELECT order_id FROM added WHERE accepted) AND deleted_at IS NULL
    ORDER BY id FOR NO KEY UPDATE
  ) o ON o.id = p.order_id WHERE p.accepted GROUP BY 1;
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE FUNCTION order_figures_corrected() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM orders WHERE id IN (OLD.order_id, NEW.order_id) ORDER BY id FOR NO KEY UPDATE;
  INSERT INTO order_figure_deltas (day, revenue)
  SELECT (v.at AT TIME ZONE 'UTC')::date, v.amount FROM (VALUES
    (OLD.order_id, OLD.created_at, -OLD.amount, OLD.accepted), (NEW.order_id, NEW.created_at, NEW.amount, NEW.accepted)
  ) v (order_id, at, amount, accepted)
  JOIN orders o ON o.id = v.order_id WHERE v.accepted AND o.deleted_at IS NULL;
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE TRIGGER order_figures_placed AFTER INSERT ON orders REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION order_figures_placed();--> statement-breakpoint
CREATE TRIGGER order_figures_changed AFTER UPDATE ON orders FOR EACH ROW
  WHEN ((OLD.deleted_at IS NULL) <> (NEW.deleted_at IS NULL) OR (OLD.paid_at IS NULL) <> (NEW.paid_at IS NULL)
    OR OLD.created_at <> NEW.created_at)
  EXECUTE FUNCTION order_figures_changed();--> statement-breakpoint
CREATE TRIGGER order_figures_removed AFTER DELETE ON orders REFERENCING OLD TABLE AS removed
  FOR EACH STATEMENT EXECUTE FUNCTION order_figures_removed();--> statement-breakpoint
CREATE TRIGGER order_figures_earned AFTER INSERT ON payments REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION order_figures_earned();--> statement-breakpoint
CREATE TRIGGER order_figures_corrected AFTER UPDATE OR DELETE ON payments
  FOR EACH ROW EXECUTE FUNCTION order_figures_corrected();--> statement-breakpoint
INSERT INTO order_figures (day, orders, paid, revenue)
SELECT day, sum(orders), sum(paid), sum(revenue) FROM (
  SELECT (created_at AT TIME ZONE 'UTC')::date AS day, 1 AS orders, (paid_at IS NOT NULL)::int AS paid, 0::numeric AS revenue
  FROM orders WHERE deleted_at IS NULL
  UNION ALL
  SELECT (p.created_at AT TIME ZONE 'UTC')::date, 0, 0, p.amount
  FROM payments p JOIN orders o ON o.id = p.order_id WHERE p.accepted AND o.deleted_at IS NULL
) counted GROUP BY day;--> statement-breakpoint
INSERT INTO order_product_names (name) SELECT DISTINCT product_name FROM orders;
