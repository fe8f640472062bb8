CREATE TABLE "recovery_codes" (
	"user_id" bigint NOT NULL,
	"code_hash" "bytea" NOT NULL,
	"used_at" timestamp with time zone,
	CONSTRAINT "recovery_codes_user_id_code_hash_pk" PRIMARY KEY("user_id","code_hash")
);
--> statement-breakpoint
CREATE TABLE "second_factor_tickets" (
	"token_hash" "bytea" PRIMARY KEY NOT NULL,
	"purpose" text NOT NULL,
	"user_id" bigint,
	"method" text,
	"kind" text,
	"secret" "bytea",
	"challenge" text,
	"origin" text,
	"tries" integer DEFAULT 0 NOT NULL,
	"created_at" timestamp with time zone NOT NULL,
	"expires_at" timestamp with time zone NOT NULL,
	CONSTRAINT "second_factor_tickets_purpose" CHECK ("second_factor_tickets"."purpose" in ('log_in', 'passkey', 'enrol', 'confirm')),
	CONSTRAINT "second_factor_tickets_method" CHECK ("second_factor_tickets"."method" in ('password', 'discord', 'sign_up', 'passkey')),
	CONSTRAINT "second_factor_tickets_kind" CHECK ("second_factor_tickets"."kind" in ('totp', 'passkey')),
	CONSTRAINT "second_factor_tickets_owner" CHECK (("second_factor_tickets"."purpose" = 'passkey') = ("second_factor_tickets"."user_id" is null))
);
--> statement-breakpoint
CREATE TABLE "second_factors" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "second_factors_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"user_id" bigint NOT NULL,
	"kind" text NOT NULL,
	"name" text NOT NULL,
	"secret" "bytea",
	"last_step" bigint,
	"credential_id" text,
	"public_key" "bytea",
	"counter" bigint DEFAULT 0 NOT NULL,
	"transports" text[],
	"created_at" timestamp with time zone NOT NULL,
	"last_used_at" timestamp with time zone,
	CONSTRAINT "second_factors_kind" CHECK ("second_factors"."kind" in ('totp', 'passkey')),
	CONSTRAINT "second_factors_totp" CHECK (("second_factors"."kind" = 'totp') = ("second_factors"."secret" is not null)),
	CONSTRAINT "second_factors_passkey" CHECK (("second_factors"."kind" = 'passkey') = ("second_factors"."credential_id" is not null and "second_factors"."public_key" is not null))
);
--> statement-breakpoint
ALTER TABLE "logins" DROP CONSTRAINT "logins_method";--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "second_factor_due_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "recovery_codes" ADD CONSTRAINT "recovery_codes_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "second_factor_tickets" ADD CONSTRAINT "second_factor_tickets_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "second_factors" ADD CONSTRAINT "second_factors_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "second_factor_tickets_user" ON "second_factor_tickets" USING btree ("user_id");--> statement-breakpoint
CREATE INDEX "second_factor_tickets_expiry" ON "second_factor_tickets" USING btree ("expires_at");--> statement-breakpoint
CREATE INDEX "second_factors_user" ON "second_factors" USING btree ("user_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "second_factors_app" ON "second_factors" USING btree ("user_id") WHERE "second_factors"."kind" = 'totp';--> statement-breakpoint
CREATE UNIQUE INDEX "second_factors_credential" ON "second_factors" USING btree ("credential_id");--> statement-breakpoint
ALTER TABLE "logins" ADD CONSTRAINT "logins_method" CHECK ("logins"."method" in ('password', 'discord', 'sign_up', 'passkey'));--> statement-breakpoint
-- Operators of a shop that runs are asked for a second factor once its owner says so. A new shop asks by default.
INSERT INTO "settings" ("key", "value", "updated_at")
SELECT 'operators_need_second_factor', 'false'::jsonb, max("created_at") FROM "users" WHERE "is_superuser" HAVING count(*) > 0
ON CONFLICT ("key") DO NOTHING;
