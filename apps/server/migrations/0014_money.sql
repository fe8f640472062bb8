CREATE TABLE "payment_refunds" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "payment_refunds_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"key" text NOT NULL,
	"platform_order_id" text NOT NULL,
	"amount" numeric(14, 2),
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "payment_refunds_key_unique" UNIQUE("key")
);
--> statement-breakpoint
ALTER TABLE "platform_events" DROP CONSTRAINT "platform_events_outcome";--> statement-breakpoint
ALTER TABLE "order_events" DROP CONSTRAINT "order_events_kind";--> statement-breakpoint
ALTER TABLE "point_records" DROP CONSTRAINT "point_records_reason";--> statement-breakpoint
ALTER TABLE "payments" ALTER COLUMN "order_id" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "coins_owed" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "platform_events" ADD COLUMN "id" bigint NOT NULL GENERATED ALWAYS AS IDENTITY (sequence name "platform_events_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1);--> statement-breakpoint
ALTER TABLE "platform_events" ADD COLUMN "platform_order_id" text;--> statement-breakpoint
ALTER TABLE "platform_events" ADD COLUMN "platform_order_name" text;--> statement-breakpoint
ALTER TABLE "platform_events" ADD COLUMN "order_public_id" text;--> statement-breakpoint
ALTER TABLE "platform_events" ADD COLUMN "needs_hand" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "platform_events" ADD COLUMN "resolution" text;--> statement-breakpoint
ALTER TABLE "platform_events" ADD COLUMN "resolution_note" text;--> statement-breakpoint
ALTER TABLE "platform_events" ADD COLUMN "resolved_by" text;--> statement-breakpoint
ALTER TABLE "platform_events" ADD COLUMN "resolved_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "lines" jsonb DEFAULT '[]'::jsonb NOT NULL;--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "charged" numeric(14, 2) DEFAULT '0' NOT NULL;--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "currency" text DEFAULT 'USD' NOT NULL;--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "refunded_amount" numeric(14, 2) DEFAULT '0' NOT NULL;--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "refunded_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "ignored_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "refund_requested_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "point_records" ADD COLUMN "payment" text;--> statement-breakpoint
ALTER TABLE "point_records" ADD COLUMN "matures_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "point_records" ADD COLUMN "taken_back_at" timestamp with time zone;--> statement-breakpoint
CREATE INDEX "payment_refunds_order" ON "payment_refunds" USING btree ("platform_order_id");--> statement-breakpoint
CREATE INDEX "platform_events_money" ON "platform_events" USING btree ("id") WHERE "platform_events"."topic" not like 'products/%';--> statement-breakpoint
CREATE INDEX "platform_events_open" ON "platform_events" USING btree ("id") WHERE "platform_events"."needs_hand" and "platform_events"."resolution" is null;--> statement-breakpoint
CREATE INDEX "platform_events_order_name" ON "platform_events" USING btree ("platform_order_name","id");--> statement-breakpoint
CREATE INDEX "platform_events_order_id" ON "platform_events" USING btree ("platform_order_id","id");--> statement-breakpoint
CREATE INDEX "platform_events_public_id" ON "platform_events" USING btree ("order_public_id","id");--> statement-breakpoint
CREATE INDEX "point_records_payment" ON "point_records" USING btree ("payment") WHERE "point_records"."payment" is not null;--> statement-breakpoint
CREATE INDEX "point_records_pending" ON "point_records" USING btree ("user_id","matures_at") WHERE "point_records"."matures_at" is not null;--> statement-breakpoint
ALTER TABLE "platform_events" ADD CONSTRAINT "platform_events_id_unique" UNIQUE("id");--> statement-breakpoint
ALTER TABLE "users" ADD CONSTRAINT "users_coins_owed" CHECK ("users"."coins_owed" >= 0);--> statement-breakpoint
ALTER TABLE "platform_events" ADD CONSTRAINT "platform_events_resolution" CHECK ("platform_events"."resolution" in ('applied', 'refunded', 'ignored'));--> statement-breakpoint
ALTER TABLE "platform_events" ADD CONSTRAINT "platform_events_outcome" CHECK ("platform_events"."outcome" in ('settled', 'duplicate', 'unknown_order', 'underpaid', 'lines_missing', 'wrong_currency', 'test_payment', 'not_paid', 'paid_back', 'too_late', 'paid_twice', 'renewal_too_late', 'renewal_underpaid', 'renewal_lines_missing', 'refunded', 'renewals_unserved', 'partly_refunded', 'refund_kept', 'inquiry', 'dispute_won', 'unreadable', 'applied', 'withdrawn', 'not_sold', 'older', 'ignored'));--> statement-breakpoint
ALTER TABLE "order_events" ADD CONSTRAINT "order_events_kind" CHECK ("order_events"."kind" in ('placed', 'pay', 'time_out', 'cancel', 'fail', 'start_delivery', 'deliver_part', 'deliver_all', 'expire', 'revive', 'reopen', 'refund', 'leased', 'reservation_ended', 'paid_again', 'payment_held', 'payment_applied', 'payment_ignored', 'payment_refunded', 'refund_requested', 'renewed', 'grace_ended', 'partly_refunded', 'moved', 'credited', 'expiry_set', 'task_requested', 'task_begun', 'task_done', 'task_failed', 'deleted'));--> statement-breakpoint
ALTER TABLE "payments" ADD CONSTRAINT "payments_order_named" CHECK ("payments"."order_id" is not null or not "payments"."accepted");--> statement-breakpoint
ALTER TABLE "payments" ADD CONSTRAINT "payments_refunded" CHECK ("payments"."refunded_amount" between 0 and greatest("payments"."amount", 0));--> statement-breakpoint
ALTER TABLE "point_records" ADD CONSTRAINT "point_records_reason" CHECK ("point_records"."reason_code" in ('payment', 'invited_payment', 'invited', 'refund', 'refund_invited', 'withheld', 'exchange', 'chat_message', 'decay', 'set_by_admin'));--> statement-breakpoint
-- What is known of payments from before is filled in.
UPDATE "payments" SET "charged" = "amount";--> statement-breakpoint
UPDATE "orders" o SET "lines" = jsonb_build_array(
    jsonb_build_object('variant', v."platform_id", 'name', o."variant_name", 'quantity', o."quantity")
  ) || coalesce((
    SELECT jsonb_agg(jsonb_build_object('variant', r."platform_variant_id", 'name', r."name", 'quantity', o."quantity") ORDER BY r."id")
    FROM "acl_rules" r WHERE r."id" = ANY (o."rules")
  ), '[]'::jsonb)
FROM "variants" v WHERE v."id" = o."variant_id";--> statement-breakpoint
UPDATE "point_records" SET "payment" = split_part("cause", ':', 2) WHERE "cause" LIKE 'payment:%:%';--> statement-breakpoint
UPDATE "platform_events" SET
  "platform_order_id" = "payload" ->> 'id',
  "platform_order_name" = "payload" ->> 'name',
  "order_public_id" = "detail" ->> 'order_id',
  "needs_hand" = "outcome" IS NOT NULL AND "outcome" IN
    ('unknown_order', 'underpaid', 'too_late', 'paid_twice', 'renewal_too_late', 'renewal_underpaid', 'unreadable')
WHERE "topic" = 'orders/paid' AND jsonb_typeof("payload") = 'object';--> statement-breakpoint
-- Revenue is what was paid less what was given back.
CREATE OR REPLACE FUNCTION order_figures_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO order_figure_deltas (day, orders, paid)
  SELECT day, sum(orders), sum(paid) FROM (VALUES
    ((OLD.created_at AT TIME ZONE 'UTC')::date, -1, -(OLD.paid_at IS NOT NULL)::int, OLD.deleted_at IS NULL),
    ((NEW.created_at AT TIME ZONE 'UTC')::date, 1, (NEW.paid_at IS NOT NULL)::int, NEW.deleted_at IS NULL)
  ) v (day, orders, paid, listed) WHERE listed GROUP BY day HAVING sum(orders) <> 0 OR sum(paid) <> 0;
  IF (OLD.deleted_at IS NULL) <> (NEW.deleted_at IS NULL) THEN
    INSERT INTO order_figure_deltas (day, revenue)
    SELECT (created_at AT TIME ZONE 'UTC')::date,
      sum((amount - refunded_amount) * CASE WHEN NEW.deleted_at IS NULL THEN 1 ELSE -1 END)
    FROM payments WHERE order_id = NEW.id AND accepted GROUP BY 1;
  END IF;
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION order_figures_earned() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO order_figure_deltas (day, revenue)
  SELECT (p.created_at AT TIME ZONE 'UTC')::date, sum(p.amount - p.refunded_amount) FROM added p JOIN (
    SELECT id FROM orders WHERE id IN (SELECT order_id FROM added WHERE accepted) AND deleted_at IS NULL
    ORDER BY id FOR NO KEY UPDATE
  ) o ON o.id = p.order_id WHERE p.accepted GROUP BY 1;
  RETURN NULL;
END $$;--> statement-breakpoint
CREATE OR REPLACE FUNCTION order_figures_corrected() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM 1 FROM orders WHERE id IN (OLD.order_id, NEW.order_id) ORDER BY id FOR NO KEY UPDATE;
  INSERT INTO order_figure_deltas (day, revenue)
  SELECT (v.at AT TIME ZONE 'UTC')::date, v.amount FROM (VALUES
    (OLD.order_id, OLD.created_at, OLD.refunded_amount - OLD.amount, OLD.accepted),
    (NEW.order_id, NEW.created_at, NEW.amount - NEW.refunded_amount, NEW.accepted)
  ) v (order_id, at, amount, accepted)
  JOIN orders o ON o.id = v.order_id WHERE v.accepted AND o.deleted_at IS NULL;
  RETURN NULL;
END $$;
