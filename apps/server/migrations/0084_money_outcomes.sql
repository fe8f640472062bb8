ALTER TABLE "platform_events" DROP CONSTRAINT "platform_events_outcome";--> statement-breakpoint
UPDATE "platform_events" SET "detail" = "detail" || jsonb_build_object('missing', concat("detail" ->> 'paid', ' / ', "detail" ->> 'due'))
WHERE "outcome" in ('underpaid', 'renewal_underpaid');--> statement-breakpoint
-- One outcome for each thing that an administrator does.
UPDATE "platform_events" SET "outcome" = CASE
  WHEN "outcome" in ('underpaid', 'renewal_underpaid', 'renewal_lines_missing') THEN 'lines_missing'
  WHEN "outcome" = 'renewal_not_sold' THEN 'purchase_not_sold'
  WHEN "outcome" = 'renewal_too_late' THEN 'too_late'
  WHEN "outcome" in ('paid_back', 'refund_kept') THEN 'refunded'
  WHEN "outcome" = 'restored' THEN 'settled'
  ELSE 'ignored'
END
WHERE "outcome" in ('underpaid', 'renewal_underpaid', 'renewal_lines_missing', 'renewal_not_sold', 'renewal_too_late', 'paid_back', 'refund_kept',
  'restored', 'duplicate', 'older');--> statement-breakpoint
ALTER TABLE "platform_events" ADD CONSTRAINT "platform_events_outcome" CHECK ("platform_events"."outcome" in ('settled', 'refunded', 'not_paid', 'ignored', 'unreadable', 'inquiry', 'refund_doubtful', 'unknown_order', 'lines_missing', 'purchase_not_sold', 'wrong_currency', 'test_payment', 'cancelled', 'too_late', 'paid_twice', 'partly_refunded', 'cancelled_delivered', 'renewals_unserved', 'dispute_won', 'refund_failed', 'applied', 'withdrawn', 'not_sold'));