DROP INDEX "platform_events_money";--> statement-breakpoint
DROP INDEX "platform_events_outcome";--> statement-breakpoint
CREATE INDEX "platform_events_money" ON "platform_events" USING btree ("id") WHERE ("platform_events"."topic" not like 'products/%' and "platform_events"."topic" not in ('orders/create', 'order_transactions/create'));--> statement-breakpoint
CREATE INDEX "platform_events_outcome" ON "platform_events" USING btree ("outcome","id") WHERE ("platform_events"."topic" not like 'products/%' and "platform_events"."topic" not in ('orders/create', 'order_transactions/create'));