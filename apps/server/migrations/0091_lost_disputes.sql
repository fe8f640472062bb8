ALTER TABLE "payment_refunds" ADD COLUMN "lost" boolean DEFAULT false NOT NULL;--> statement-breakpoint
UPDATE "payment_refunds" f SET "lost" = true WHERE f."state" = 'counted' AND starts_with(f."key", 'dispute:') AND EXISTS (
  SELECT 1 FROM "platform_events" e
  WHERE e."platform_order_id" = f."platform_order_id" AND e."topic" IN ('disputes/create', 'disputes/update')
    AND e."processed_at" IS NOT NULL AND e."payload" ->> 'status' IN ('lost', 'accepted', 'charge_refunded')
    AND split_part(f."key", ':', 2) = e."payload" ->> 'id');
