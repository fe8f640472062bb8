ALTER TABLE "platform_events" DROP CONSTRAINT "platform_events_outcome";--> statement-breakpoint
ALTER TABLE "orders" DROP CONSTRAINT "orders_fail_code";--> statement-breakpoint
ALTER TABLE "orders" DROP CONSTRAINT "orders_task_error";--> statement-breakpoint
DROP INDEX "payment_refunds_unread";--> statement-breakpoint
ALTER TABLE "payment_refunds" ADD COLUMN "state" text;--> statement-breakpoint
ALTER TABLE "payment_refunds" ADD COLUMN "asked_by" text;--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "buyer_amount" numeric(14, 2);--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "buyer_currency" text;--> statement-breakpoint
-- Requests stood in four columns of their payment. One that was not answered is repeated under the key that it had.
INSERT INTO "payment_refunds" ("key", "platform_order_id", "state", "amount", "asked_by", "created_at")
  SELECT coalesce('refund:' || p."refund_id", 'asked:' || p."id" || '-' || b."rows" || '-' || b."sum" || '-' || a."amount"), p."platform_order_id",
    CASE WHEN p."refund_id" IS NOT NULL THEN 'answered' WHEN p."refund_unanswered" THEN 'unanswered' ELSE 'asked' END,
    a."amount", p."refund_requested_by", p."refund_requested_at"
  FROM "payments" p
  CROSS JOIN LATERAL (SELECT coalesce((SELECT (e."detail" ->> 'amount')::numeric(14, 2) FROM "order_events" e
    WHERE e."order_id" = p."order_id" AND e."kind" = 'refund_requested' AND e."detail" ->> 'platform_order' = p."platform_order_number"
    ORDER BY e."id" DESC LIMIT 1), p."charged") AS "amount") a
  CROSS JOIN LATERAL (SELECT count(*) AS "rows", coalesce(sum(coalesce(r."amount", p."charged"))
    FILTER (WHERE r."reversed_at" IS NULL), 0)::numeric(14, 2) AS "sum"
    FROM "payment_refunds" r WHERE r."platform_order_id" = p."platform_order_id") b
  WHERE p."refund_requested_at" IS NOT NULL
  ON CONFLICT ("key") DO NOTHING;--> statement-breakpoint
-- What held a payment since its amount was in the buyer's currency.
UPDATE "platform_events" SET "outcome" = 'partly_refunded' WHERE "outcome" = 'foreign_refund';--> statement-breakpoint
UPDATE "platform_events" SET "detail" = "detail" - 'key' WHERE "outcome" = 'partly_refunded' AND "detail" ? 'key';--> statement-breakpoint
UPDATE "platform_events" SET "outcome" = 'lines_missing', "detail" = "detail" || jsonb_build_object('missing', "detail" -> 'amount')
  WHERE "outcome" = 'refund_amount_unknown';--> statement-breakpoint
UPDATE "orders" SET "fail_code" = 'lines_missing', "fail_params" = jsonb_build_object('missing', "fail_params" -> 'amount')
  WHERE "fail_code" = 'refund_amount_unknown';--> statement-breakpoint
UPDATE "orders" SET "task_error_code" = NULL, "task_error_params" = NULL WHERE "task_error_code" = 'refund_amount_unknown';--> statement-breakpoint
UPDATE "order_events" SET "detail" = "detail" || jsonb_build_object('code', 'lines_missing', 'missing', "detail" -> 'amount')
  WHERE "detail" ->> 'code' = 'refund_amount_unknown';--> statement-breakpoint
DELETE FROM "payment_refunds" f WHERE f."key" LIKE 'foreign:%'
  AND EXISTS (SELECT 1 FROM "payment_refunds" r WHERE r."key" = 'refund:' || substr(f."key", 9));--> statement-breakpoint
-- An administrator decided that it is all of the payment.
UPDATE "payment_refunds" SET "key" = 'operator:' || "key" WHERE "key" LIKE 'foreign:%' AND "amount" IS NULL;--> statement-breakpoint
UPDATE "payment_refunds" SET "key" = 'refund:' || substr("key", 9), "awaits_decision" = "reversed_at" IS NULL WHERE "key" LIKE 'foreign:%';--> statement-breakpoint
-- A cancellation is no refund by itself: what the platform says of its money is compared with this.
DELETE FROM "payment_refunds" c WHERE c."key" LIKE 'cancellation:%'
  AND EXISTS (SELECT 1 FROM "payment_refunds" r WHERE r."key" = 'reported:' || substr(c."key", 14));--> statement-breakpoint
UPDATE "payment_refunds" SET "key" = 'reported:' || substr("key", 14) WHERE "key" LIKE 'cancellation:%';--> statement-breakpoint
UPDATE "payment_refunds" SET "state" = CASE WHEN "reversed_at" IS NULL THEN 'counted' ELSE 'returned' END WHERE "state" IS NULL;--> statement-breakpoint
ALTER TABLE "payment_refunds" ALTER COLUMN "state" SET NOT NULL;--> statement-breakpoint
CREATE INDEX "payment_refunds_unread" ON "payment_refunds" USING btree ("id") WHERE "payment_refunds"."awaits_decision";--> statement-breakpoint
ALTER TABLE "platform_events" ADD CONSTRAINT "platform_events_outcome" CHECK ("platform_events"."outcome" in ('settled', 'duplicate', 'unknown_order', 'lines_missing', 'purchase_not_sold', 'wrong_currency', 'test_payment', 'cancelled', 'not_paid', 'paid_back', 'too_late', 'paid_twice', 'renewal_too_late', 'renewal_lines_missing', 'renewal_not_sold', 'refunded', 'renewals_unserved', 'partly_refunded', 'cancelled_delivered', 'refund_kept', 'inquiry', 'dispute_won', 'restored', 'refund_failed', 'refund_doubtful', 'unreadable', 'underpaid', 'renewal_underpaid', 'ignored', 'applied', 'withdrawn', 'not_sold', 'older'));--> statement-breakpoint
ALTER TABLE "orders" ADD CONSTRAINT "orders_fail_code" CHECK ("orders"."fail_code" in ('out_of_stock', 'underpaid', 'agent_refused', 'lines_missing', 'purchase_not_sold', 'wrong_currency', 'test_payment', 'cancelled', 'server_unreachable', 'addresses_lost'));--> statement-breakpoint
ALTER TABLE "orders" ADD CONSTRAINT "orders_task_error" CHECK ("orders"."task_error_code" in ('out_of_stock', 'agent_refused'));--> statement-breakpoint
ALTER TABLE "payment_refunds" ADD CONSTRAINT "payment_refunds_state" CHECK ("payment_refunds"."state" in ('asked', 'unanswered', 'answered', 'refused', 'counted', 'returned'));