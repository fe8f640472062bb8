CREATE TABLE "retention_figures" (
	"what" text PRIMARY KEY NOT NULL,
	"rows" bigint NOT NULL,
	"oldest" timestamp with time zone,
	"removed" bigint DEFAULT 0 NOT NULL,
	"removed_at" timestamp with time zone,
	"counted_at" timestamp with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "task_done" integer;--> statement-breakpoint
CREATE INDEX "login_failures_at" ON "login_failures" USING btree ("at");--> statement-breakpoint
CREATE INDEX "platform_events_payload" ON "platform_events" USING btree ("received_at") WHERE "platform_events"."payload" <> '{}';--> statement-breakpoint
CREATE INDEX "proxies_retired" ON "proxies" USING btree ("updated_at") WHERE "proxies"."state" = 'retired';--> statement-breakpoint
CREATE INDEX "order_events_at" ON "order_events" USING btree ("at");--> statement-breakpoint
CREATE INDEX "orders_never_paid" ON "orders" USING btree ("created_at") WHERE "orders"."state" in ('timed_out', 'cancelled') and "orders"."paid_at" is null;--> statement-breakpoint
CREATE INDEX "log_lines_at" ON "log_lines" USING btree ("at");--> statement-breakpoint
CREATE INDEX "audit_log_at" ON "audit_log" USING btree ("at");