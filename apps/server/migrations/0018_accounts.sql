CREATE TABLE "api_key_networks" (
	"key_id" bigint NOT NULL,
	"network" "inet" NOT NULL,
	"first_used_at" timestamp with time zone NOT NULL,
	"last_used_on" date NOT NULL,
	"credentials_read_on" date,
	CONSTRAINT "api_key_networks_key_id_network_pk" PRIMARY KEY("key_id","network")
);
--> statement-breakpoint
ALTER TABLE "email_codes" DROP CONSTRAINT "email_codes_purpose";--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "counted_since" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "calls" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "sessions" ADD COLUMN "id" bigint NOT NULL GENERATED ALWAYS AS IDENTITY (sequence name "sessions_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1);--> statement-breakpoint
ALTER TABLE "users" ADD COLUMN "guesses_told_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "api_key_networks" ADD CONSTRAINT "api_key_networks_key_id_api_keys_id_fk" FOREIGN KEY ("key_id") REFERENCES "public"."api_keys"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "api_key_networks_used" ON "api_key_networks" USING btree ("last_used_on");--> statement-breakpoint
ALTER TABLE "sessions" ADD CONSTRAINT "sessions_id_unique" UNIQUE("id");--> statement-breakpoint
ALTER TABLE "email_codes" ADD CONSTRAINT "email_codes_purpose" CHECK ("email_codes"."purpose" in ('register', 'forgot', 'change_email'));