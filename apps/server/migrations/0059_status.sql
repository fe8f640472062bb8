CREATE TABLE "server_places" (
	"server_id" bigint PRIMARY KEY NOT NULL,
	"country" text NOT NULL,
	"region" text DEFAULT '' NOT NULL,
	"city" text DEFAULT '' NOT NULL,
	"postal" text DEFAULT '' NOT NULL
);
--> statement-breakpoint
CREATE TABLE "incident_locations" (
	"incident_id" bigint NOT NULL,
	"group_id" bigint NOT NULL,
	"name" text NOT NULL,
	CONSTRAINT "incident_locations_incident_id_group_id_pk" PRIMARY KEY("incident_id","group_id")
);
--> statement-breakpoint
CREATE TABLE "incident_outages" (
	"outage_id" bigint PRIMARY KEY NOT NULL,
	"incident_id" bigint NOT NULL
);
--> statement-breakpoint
CREATE TABLE "incident_updates" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "incident_updates_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"incident_id" bigint NOT NULL,
	"state" text NOT NULL,
	"text" text DEFAULT '' NOT NULL,
	"at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "incident_updates_state" CHECK ("incident_updates"."state" in ('investigating', 'identified', 'monitoring', 'resolved', 'scheduled', 'in_progress', 'completed'))
);
--> statement-breakpoint
CREATE TABLE "incidents" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "incidents_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"title" text NOT NULL,
	"severity" text NOT NULL,
	"state" text NOT NULL,
	"started_at" timestamp with time zone NOT NULL,
	"ends_at" timestamp with time zone,
	"resolved_at" timestamp with time zone,
	"created_by" text NOT NULL,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "incidents_severity" CHECK ("incidents"."severity" in ('minor', 'major', 'critical', 'maintenance')),
	CONSTRAINT "incidents_state" CHECK ("incidents"."state" in ('investigating', 'identified', 'monitoring', 'resolved', 'scheduled', 'in_progress', 'completed')),
	CONSTRAINT "incidents_ended" CHECK (("incidents"."resolved_at" is not null) = ("incidents"."state" in ('resolved', 'completed'))),
	CONSTRAINT "incidents_planned" CHECK (("incidents"."severity" = 'maintenance') = ("incidents"."ends_at" is not null)
        and ("incidents"."severity" = 'maintenance') = ("incidents"."state" in ('scheduled', 'in_progress', 'completed'))),
	CONSTRAINT "incidents_times" CHECK ("incidents"."ends_at" > "incidents"."started_at")
);
--> statement-breakpoint
CREATE TABLE "status_cursor" (
	"single" boolean PRIMARY KEY DEFAULT true NOT NULL,
	"minute" timestamp with time zone NOT NULL,
	CONSTRAINT "status_cursor_single" CHECK ("status_cursor"."single")
);
--> statement-breakpoint
CREATE TABLE "status_days" (
	"group_id" bigint NOT NULL,
	"server_id" bigint NOT NULL,
	"day" date NOT NULL,
	"up" integer DEFAULT 0 NOT NULL,
	"degraded" integer DEFAULT 0 NOT NULL,
	"down" integer DEFAULT 0 NOT NULL,
	"maintenance" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "status_days_group_id_server_id_day_pk" PRIMARY KEY("group_id","server_id","day"),
	CONSTRAINT "status_days_minutes" CHECK (least("status_days"."up", "status_days"."degraded", "status_days"."down", "status_days"."maintenance") >= 0),
	CONSTRAINT "status_days_whole" CHECK ("status_days"."up" + "status_days"."degraded" + "status_days"."down" + "status_days"."maintenance" <= 1440)
);
--> statement-breakpoint
CREATE TABLE "status_subscribers" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "status_subscribers_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"address" text NOT NULL,
	"language" text DEFAULT 'en' NOT NULL,
	"confirmed_at" timestamp with time zone,
	"client_ip" "inet",
	"asks" integer DEFAULT 1 NOT NULL,
	"asked_at" timestamp with time zone DEFAULT now() NOT NULL,
	CONSTRAINT "status_subscribers_address_key" UNIQUE("address"),
	CONSTRAINT "status_subscribers_language" CHECK ("status_subscribers"."language" in ('en', 'zh-CN'))
);
--> statement-breakpoint
ALTER TABLE "server_places" ADD CONSTRAINT "server_places_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "incident_locations" ADD CONSTRAINT "incident_locations_incident_id_incidents_id_fk" FOREIGN KEY ("incident_id") REFERENCES "public"."incidents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "incident_locations" ADD CONSTRAINT "incident_locations_group_id_server_groups_id_fk" FOREIGN KEY ("group_id") REFERENCES "public"."server_groups"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "incident_outages" ADD CONSTRAINT "incident_outages_outage_id_server_outages_id_fk" FOREIGN KEY ("outage_id") REFERENCES "public"."server_outages"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "incident_outages" ADD CONSTRAINT "incident_outages_incident_id_incidents_id_fk" FOREIGN KEY ("incident_id") REFERENCES "public"."incidents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "incident_updates" ADD CONSTRAINT "incident_updates_incident_id_incidents_id_fk" FOREIGN KEY ("incident_id") REFERENCES "public"."incidents"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "status_days" ADD CONSTRAINT "status_days_group_id_server_groups_id_fk" FOREIGN KEY ("group_id") REFERENCES "public"."server_groups"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "status_days" ADD CONSTRAINT "status_days_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "incident_locations_group" ON "incident_locations" USING btree ("group_id");--> statement-breakpoint
CREATE INDEX "incident_outages_incident" ON "incident_outages" USING btree ("incident_id");--> statement-breakpoint
CREATE INDEX "incident_updates_incident" ON "incident_updates" USING btree ("incident_id","id");--> statement-breakpoint
CREATE UNIQUE INDEX "incidents_open_title_key" ON "incidents" USING btree (lower("title")) WHERE "incidents"."resolved_at" is null;--> statement-breakpoint
CREATE INDEX "incidents_resolved" ON "incidents" USING btree ("resolved_at");--> statement-breakpoint
CREATE INDEX "status_days_day" ON "status_days" USING btree ("day");--> statement-breakpoint
CREATE INDEX "status_subscribers_client" ON "status_subscribers" USING btree ("client_ip","asked_at");--> statement-breakpoint
CREATE INDEX "status_subscribers_unconfirmed" ON "status_subscribers" USING btree ("asked_at") WHERE "status_subscribers"."confirmed_at" is null;--> statement-breakpoint
CREATE INDEX "proxies_checked" ON "proxies" USING btree ("checked_at") WHERE "proxies"."state" = 'live';
