ALTER TABLE "platform_events" DROP CONSTRAINT "platform_events_outcome";--> statement-breakpoint
ALTER TABLE "orders" DROP CONSTRAINT "orders_fail_code";--> statement-breakpoint
DROP INDEX "coupons_used_by";--> statement-breakpoint
ALTER TABLE "coupons" ADD COLUMN "freed_by" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
UPDATE "coupons" SET "freed_by" = array["used_by"], "used_by" = NULL WHERE "used_by" IS NOT NULL AND NOT "is_used";--> statement-breakpoint
ALTER TABLE "coupons" ALTER COLUMN "used_by" SET DATA TYPE text[] USING CASE WHEN "used_by" IS NULL THEN '{}' ELSE array["used_by"] END;--> statement-breakpoint
ALTER TABLE "coupons" ALTER COLUMN "used_by" SET DEFAULT '{}';--> statement-breakpoint
ALTER TABLE "coupons" ALTER COLUMN "used_by" SET NOT NULL;--> statement-breakpoint
ALTER TABLE "point_records" ADD COLUMN "rate" double precision;--> statement-breakpoint
ALTER TABLE "point_records" ADD COLUMN "nominal" bigint;--> statement-breakpoint
ALTER TABLE "point_records" ADD COLUMN "taken_back" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
CREATE INDEX "coupons_freed_by" ON "coupons" USING gin ("freed_by");--> statement-breakpoint
CREATE INDEX "coupons_used_by" ON "coupons" USING gin ("used_by");--> statement-breakpoint
ALTER TABLE "platform_events" ADD CONSTRAINT "platform_events_outcome" CHECK ("platform_events"."outcome" in ('settled', 'duplicate', 'unknown_order', 'lines_missing', 'purchase_not_sold', 'wrong_currency', 'test_payment', 'not_paid', 'paid_back', 'too_late', 'paid_twice', 'renewal_too_late', 'renewal_lines_missing', 'renewal_not_sold', 'refunded', 'renewals_unserved', 'partly_refunded', 'refund_kept', 'inquiry', 'dispute_won', 'restored', 'unreadable', 'underpaid', 'renewal_underpaid', 'ignored', 'applied', 'withdrawn', 'not_sold', 'older'));--> statement-breakpoint
ALTER TABLE "orders" ADD CONSTRAINT "orders_fail_code" CHECK ("orders"."fail_code" in ('out_of_stock', 'underpaid', 'agent_refused', 'lines_missing', 'purchase_not_sold', 'wrong_currency', 'test_payment', 'server_unreachable', 'addresses_lost'));--> statement-breakpoint
-- What was given back of it had been taken as a whole.
UPDATE "point_records" SET "taken_back" = "point" WHERE "taken_back_at" IS NOT NULL AND "point" > 0;--> statement-breakpoint
-- Level points that were given back after a decay stand for as many as they had been before it.
UPDATE "point_records" "again" SET "nominal" = "first"."point",
  "taken_back" = CASE WHEN "again"."taken_back_at" IS NULL THEN 0 ELSE "first"."point" END
FROM "point_records" "first" WHERE "again"."cause" = 'restored:' || "first"."id" AND "again"."kind" = 'level';--> statement-breakpoint
ALTER TABLE "point_records" ADD CONSTRAINT "point_records_taken_back" CHECK ("point_records"."taken_back" between 0 and greatest(coalesce("point_records"."nominal", "point_records"."point"), 0));
