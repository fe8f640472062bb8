DROP INDEX "login_failures_key";--> statement-breakpoint
CREATE INDEX "login_failures_key" ON "login_failures" USING btree ("key" text_pattern_ops,"at" DESC NULLS LAST);