DROP INDEX "orders_expiry";--> statement-breakpoint
CREATE INDEX "orders_live" ON "orders" USING btree ("expired_at","id") WHERE "orders"."state" in ('delivering', 'partly_delivered', 'delivered');--> statement-breakpoint
CREATE INDEX "orders_underway" ON "orders" USING btree ("id") WHERE "orders"."state" in ('delivering', 'partly_delivered');--> statement-breakpoint
CREATE INDEX "orders_incomplete" ON "orders" USING btree ("id") WHERE "orders"."fail_code" = 'addresses_lost';--> statement-breakpoint
CREATE INDEX "orders_failed" ON "orders" USING btree ("reserved_until") WHERE "orders"."state" = 'failed';
