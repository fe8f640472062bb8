ALTER TABLE "orders" ADD COLUMN "label" text;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "note" text;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "last_amount" numeric(14, 2);--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "changes_used" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "resets_used" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "task_counted" boolean DEFAULT false NOT NULL;--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "lines" jsonb;--> statement-breakpoint
CREATE INDEX "orders_labelled" ON "orders" USING btree ("user_id","id") WHERE "orders"."deleted_at" is null and "orders"."label" is not null;--> statement-breakpoint
ALTER TABLE "orders" ADD CONSTRAINT "orders_quota" CHECK ("orders"."changes_used" >= 0 and "orders"."resets_used" >= 0);--> statement-breakpoint
-- What a renewed order's running term was paid with. That of others is their one payment.
UPDATE "orders" o SET "last_amount" = p."amount" FROM (
  SELECT DISTINCT ON ("order_id") "order_id", "amount" FROM "payments"
  WHERE "accepted" AND "refunded_at" IS NULL ORDER BY "order_id", "id" DESC
) p WHERE p."order_id" = o."id"
  AND EXISTS (SELECT 1 FROM "payments" r WHERE r."order_id" = o."id" AND r."kind" = 'renewal' AND r."accepted");--> statement-breakpoint
UPDATE "orders" SET "last_amount" = "pay_amount" WHERE "last_amount" IS NULL AND "pay_amount" IS NOT NULL;--> statement-breakpoint
-- The figures of orders do not change by it, and the trigger would look at each payment.
ALTER TABLE "payments" DISABLE TRIGGER "order_figures_corrected";--> statement-breakpoint
-- What payments were for, as far as the platform's reports are still there.
UPDATE "payments" p SET "lines" = e."lines" FROM (
  SELECT DISTINCT ON (r."platform_order_id") r."platform_order_id", (
    SELECT jsonb_agg(jsonb_build_object('title', l ->> 'title', 'variant', l ->> 'variant_title',
      'quantity', (coalesce(l ->> 'current_quantity', l ->> 'quantity'))::int, 'price', trunc((l ->> 'price')::numeric, 2)::text) ORDER BY n)
    FROM jsonb_array_elements(r."payload" -> 'line_items') WITH ORDINALITY AS item (l, n)
    WHERE l ->> 'title' IS NOT NULL AND l ->> 'price' ~ '^[0-9]{1,9}(\.[0-9]+)?$' AND l ->> 'quantity' ~ '^[0-9]{1,9}$'
      AND coalesce(l ->> 'current_quantity', '0') ~ '^[0-9]{1,9}$'
  ) AS "lines" FROM "platform_events" r
  WHERE r."topic" = 'orders/paid' AND jsonb_typeof(r."payload" -> 'line_items') = 'array'
  ORDER BY r."platform_order_id", r."id" DESC
) e WHERE e."platform_order_id" = p."platform_order_id";--> statement-breakpoint
ALTER TABLE "payments" ENABLE TRIGGER "order_figures_corrected";
