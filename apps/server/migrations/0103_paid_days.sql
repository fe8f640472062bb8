ALTER TABLE "payments" ADD COLUMN "paid_at" timestamp with time zone;--> statement-breakpoint
CREATE INDEX "orders_pending" ON "orders" USING btree ("id") WHERE "orders"."pending_for" <> '{}';