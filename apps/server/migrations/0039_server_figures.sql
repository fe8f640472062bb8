CREATE INDEX "agent_users_generation" ON "agent_users" USING btree ("server_id","generation");--> statement-breakpoint
CREATE INDEX "agent_users_applied" ON "agent_users" USING btree ("server_id","applied_generation");--> statement-breakpoint
CREATE INDEX "agent_users_orders" ON "agent_users" USING btree ("server_id") WHERE "agent_users"."wanted" and "agent_users"."order_id" is not null;--> statement-breakpoint
CREATE INDEX "mails_to" ON "mails" USING btree (lower("to"),"id");