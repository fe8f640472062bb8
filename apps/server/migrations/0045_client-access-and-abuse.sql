CREATE TABLE "abuse_alarms" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "abuse_alarms_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"server_id" bigint NOT NULL,
	"kind" text NOT NULL,
	"username" text NOT NULL,
	"order_id" bigint,
	"subject" text NOT NULL,
	"count" bigint NOT NULL,
	"started_at" timestamp with time zone NOT NULL,
	"last_at" timestamp with time zone NOT NULL,
	"acknowledged_at" timestamp with time zone,
	"acknowledged_by" text,
	CONSTRAINT "abuse_alarms_kind" CHECK ("abuse_alarms"."kind" in ('scan', 'flood', 'mail', 'guessing'))
);
--> statement-breakpoint
CREATE TABLE "order_access" (
	"order_id" bigint PRIMARY KEY NOT NULL,
	"access" text DEFAULT 'password' NOT NULL,
	"client_ips" text[] DEFAULT '{}' NOT NULL,
	"changed_at" timestamp with time zone,
	"attempts" integer DEFAULT 0 NOT NULL,
	"attempts_since" timestamp with time zone NOT NULL,
	CONSTRAINT "order_access_access" CHECK ("order_access"."access" in ('password', 'address', 'password_and_address')),
	CONSTRAINT "order_access_clients" CHECK (("order_access"."access" = 'password') = (cardinality("order_access"."client_ips") = 0))
);
--> statement-breakpoint
ALTER TABLE "abuse_alarms" ADD CONSTRAINT "abuse_alarms_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "abuse_alarms_cause_key" ON "abuse_alarms" USING btree ("server_id","kind","username");--> statement-breakpoint
CREATE INDEX "abuse_alarms_open" ON "abuse_alarms" USING btree ("id") WHERE "abuse_alarms"."acknowledged_at" is null;--> statement-breakpoint
CREATE INDEX "abuse_alarms_order" ON "abuse_alarms" USING btree ("order_id");--> statement-breakpoint
CREATE INDEX "abuse_alarms_last" ON "abuse_alarms" USING btree ("last_at");