DROP INDEX "status_subscribers_client";--> statement-breakpoint
DROP INDEX "webhook_deliveries_asked";--> statement-breakpoint
ALTER TABLE "status_subscribers" DROP COLUMN "client_ip";--> statement-breakpoint
ALTER TABLE "payments" ADD COLUMN "user_id" bigint;--> statement-breakpoint
-- The figures of orders do not change by it, and the trigger would look at each payment.
ALTER TABLE "payments" DISABLE TRIGGER "order_figures_corrected";--> statement-breakpoint
UPDATE "payments" p SET "user_id" = o."user_id" FROM "orders" o WHERE o."id" = p."order_id";--> statement-breakpoint
ALTER TABLE "payments" ENABLE TRIGGER "order_figures_corrected";--> statement-breakpoint
ALTER TABLE "payments" ADD CONSTRAINT "payments_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE no action ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "payments_user" ON "payments" USING btree ("user_id","id");--> statement-breakpoint
CREATE FUNCTION payment_of_user() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.user_id := (SELECT user_id FROM orders WHERE id = NEW.order_id);
  RETURN NEW;
END $$;--> statement-breakpoint
-- An order stays its user's; a payment may be applied to another order.
CREATE TRIGGER payment_of_user BEFORE INSERT OR UPDATE OF order_id ON payments
  FOR EACH ROW EXECUTE FUNCTION payment_of_user();--> statement-breakpoint
CREATE INDEX "order_events_moments" ON "order_events" USING btree ("kind","at","order_id") WHERE "order_events"."kind" in ('placed', 'pay', 'renewed', 'deliver_all');--> statement-breakpoint
CREATE INDEX "orders_live_listed" ON "orders" USING btree ("id") WHERE "orders"."deleted_at" is null and "orders"."state" in ('paid', 'delivering', 'partly_delivered', 'delivered');--> statement-breakpoint
CREATE INDEX "orders_live_by_expiry" ON "orders" USING btree (coalesce("expired_at", 'infinity'),"id") WHERE "orders"."deleted_at" is null and "orders"."state" in ('paid', 'delivering', 'partly_delivered', 'delivered');--> statement-breakpoint
CREATE INDEX "platform_events_late" ON "platform_events" USING btree ("id") WHERE "platform_events"."processed_at" is null;
