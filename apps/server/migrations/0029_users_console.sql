CREATE TABLE "logins" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "logins_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"user_id" bigint NOT NULL,
	"at" timestamp with time zone DEFAULT now() NOT NULL,
	"method" text NOT NULL,
	"ip" "inet",
	"country" char(2),
	"device" text,
	CONSTRAINT "logins_method" CHECK ("logins"."method" in ('password', 'discord', 'sign_up'))
);
--> statement-breakpoint
ALTER TABLE "logins" ADD CONSTRAINT "logins_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "logins_user" ON "logins" USING btree ("user_id","id");--> statement-breakpoint
CREATE INDEX "logins_at" ON "logins" USING btree ("at");--> statement-breakpoint
CREATE INDEX "users_by_coins" ON "users" USING btree ("coins","id") WHERE "users"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "users_by_level_points" ON "users" USING btree ("level_points","id") WHERE "users"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "users_by_last_login" ON "users" USING btree (coalesce("last_login", '-infinity'::timestamptz),"id") WHERE "users"."deleted_at" is null;--> statement-breakpoint
CREATE INDEX "users_banned" ON "users" USING btree ("id") WHERE "users"."deleted_at" is null and not "users"."is_active";--> statement-breakpoint
CREATE INDEX "users_admins" ON "users" USING btree ("id") WHERE "users"."deleted_at" is null and "users"."is_superuser";--> statement-breakpoint
CREATE INDEX "tickets_email" ON "tickets" USING btree (lower("email"),"id");