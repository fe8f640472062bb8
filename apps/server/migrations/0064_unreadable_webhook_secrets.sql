-- A secret that was sealed with another APP_SECRET is a failure of its own.
ALTER TABLE "webhook_attempts" DROP CONSTRAINT "webhook_attempts_failure";
--> statement-breakpoint
ALTER TABLE "webhook_attempts" ADD CONSTRAINT "webhook_attempts_failure" CHECK ("webhook_attempts"."failure" in ('status', 'redirect', 'not_https', 'port', 'not_public', 'own_address', 'unresolved', 'timeout', 'tls', 'network', 'cut_off', 'secret_unreadable'));
--> statement-breakpoint
ALTER TABLE "webhook_deliveries" DROP CONSTRAINT "webhook_deliveries_failure";
--> statement-breakpoint
ALTER TABLE "webhook_deliveries" ADD CONSTRAINT "webhook_deliveries_failure" CHECK ("webhook_deliveries"."failure" in ('status', 'redirect', 'not_https', 'port', 'not_public', 'own_address', 'unresolved', 'timeout', 'tls', 'network', 'cut_off', 'secret_unreadable'));
