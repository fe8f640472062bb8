ALTER TABLE "platform_events" DROP CONSTRAINT "platform_events_outcome";--> statement-breakpoint
ALTER TABLE "platform_events" ADD CONSTRAINT "platform_events_outcome" CHECK ("platform_events"."outcome" in ('settled', 'refunded', 'not_paid', 'ignored', 'unreadable', 'inquiry', 'refund_doubtful', 'refund_stuck', 'refunded_twice', 'unknown_order', 'lines_missing', 'part_paid', 'purchase_not_sold', 'wrong_currency', 'test_payment', 'cancelled', 'too_late', 'paid_twice', 'paid_more', 'lines_more', 'partly_refunded', 'cancelled_delivered', 'renewals_unserved', 'dispute_won', 'refund_failed', 'applied', 'withdrawn', 'not_sold'));--> statement-breakpoint
UPDATE "platform_events" SET
  "outcome" = case "outcome" when 'lines_missing' then 'part_paid' else "outcome" end,
  "detail" = "detail" - 'missing' || jsonb_build_object('amount', substring("detail" ->> 'missing' from '\((.*)\)')),
  "payload" = jsonb_set(jsonb_set("payload", '{outcome}', '"part_paid"'), '{detail}', ("payload" -> 'detail') - 'missing'
    || jsonb_build_object('amount', substring("payload" -> 'detail' ->> 'missing' from '\((.*)\)')))
  WHERE "topic" = 'reconciled/doubt' AND "payload" ->> 'outcome' = 'lines_missing';
