CREATE TABLE "order_traffic" (
	"order_id" bigint PRIMARY KEY NOT NULL,
	"used" bigint DEFAULT 0 NOT NULL,
	"allowed" bigint,
	"mbps" integer,
	"connections" integer,
	"connections_per_second" integer,
	"told_of" integer DEFAULT 0 NOT NULL,
	CONSTRAINT "order_traffic_told" CHECK ("order_traffic"."told_of" in (0, 80, 100))
);
--> statement-breakpoint
CREATE TABLE "server_traffic_days" (
	"at" timestamp with time zone NOT NULL,
	"server_id" bigint NOT NULL,
	"up" bigint NOT NULL,
	"down" bigint NOT NULL,
	"requests" bigint NOT NULL,
	"connections" bigint NOT NULL,
	"codes" jsonb NOT NULL,
	CONSTRAINT "server_traffic_days_server_id_at_pk" PRIMARY KEY("server_id","at")
);
--> statement-breakpoint
CREATE TABLE "server_traffic_hours" (
	"at" timestamp with time zone NOT NULL,
	"server_id" bigint NOT NULL,
	"up" bigint NOT NULL,
	"down" bigint NOT NULL,
	"requests" bigint NOT NULL,
	"connections" bigint NOT NULL,
	"codes" jsonb NOT NULL,
	CONSTRAINT "server_traffic_hours_server_id_at_pk" PRIMARY KEY("server_id","at")
);
--> statement-breakpoint
CREATE TABLE "traffic_cursors" (
	"server_id" bigint PRIMARY KEY NOT NULL,
	"epoch" text DEFAULT '' NOT NULL,
	"cursor" bigint DEFAULT 0 NOT NULL,
	"read_at" timestamp with time zone
);
--> statement-breakpoint
CREATE TABLE "traffic_days" (
	"at" timestamp with time zone NOT NULL,
	"server_id" bigint NOT NULL,
	"username" text NOT NULL,
	"ip" text NOT NULL,
	"order_id" bigint,
	"up" bigint NOT NULL,
	"down" bigint NOT NULL,
	"requests" bigint NOT NULL,
	"connections" bigint NOT NULL,
	"codes" jsonb NOT NULL,
	CONSTRAINT "traffic_days_at_server_id_username_ip_pk" PRIMARY KEY("at","server_id","username","ip")
);
--> statement-breakpoint
CREATE TABLE "traffic_hours" (
	"at" timestamp with time zone NOT NULL,
	"server_id" bigint NOT NULL,
	"username" text NOT NULL,
	"ip" text NOT NULL,
	"order_id" bigint,
	"up" bigint NOT NULL,
	"down" bigint NOT NULL,
	"requests" bigint NOT NULL,
	"connections" bigint NOT NULL,
	"codes" jsonb NOT NULL,
	CONSTRAINT "traffic_hours_at_server_id_username_ip_pk" PRIMARY KEY("at","server_id","username","ip")
);
--> statement-breakpoint
CREATE TABLE "traffic_marks" (
	"server_id" bigint NOT NULL,
	"username" text NOT NULL,
	"ip" text NOT NULL,
	"since" text NOT NULL,
	"up" bigint NOT NULL,
	"down" bigint NOT NULL,
	"requests" bigint NOT NULL,
	"connections" bigint NOT NULL,
	"codes" jsonb NOT NULL,
	"changed_at" timestamp with time zone NOT NULL,
	CONSTRAINT "traffic_marks_server_id_username_ip_pk" PRIMARY KEY("server_id","username","ip")
);
--> statement-breakpoint
ALTER TABLE "variants" ADD COLUMN "traffic_gb" integer;--> statement-breakpoint
ALTER TABLE "variants" ADD COLUMN "mbps" integer;--> statement-breakpoint
ALTER TABLE "variants" ADD COLUMN "connections" integer;--> statement-breakpoint
ALTER TABLE "variants" ADD COLUMN "connections_per_second" integer;--> statement-breakpoint
ALTER TABLE "agent_users" ADD COLUMN "traffic_used" bigint DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "agent_users" ADD COLUMN "quota_generation" bigint;--> statement-breakpoint
ALTER TABLE "agent_users" ADD COLUMN "quota_bytes" bigint;--> statement-breakpoint
ALTER TABLE "agent_users" ADD COLUMN "quota_until" bigint;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "limits" jsonb DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "server_traffic_days" ADD CONSTRAINT "server_traffic_days_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "server_traffic_hours" ADD CONSTRAINT "server_traffic_hours_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "traffic_cursors" ADD CONSTRAINT "traffic_cursors_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "traffic_days" ADD CONSTRAINT "traffic_days_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "traffic_hours" ADD CONSTRAINT "traffic_hours_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "traffic_marks" ADD CONSTRAINT "traffic_marks_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "server_traffic_days_at" ON "server_traffic_days" USING btree ("at");--> statement-breakpoint
CREATE INDEX "server_traffic_hours_at" ON "server_traffic_hours" USING btree ("at");--> statement-breakpoint
CREATE INDEX "traffic_days_order" ON "traffic_days" USING btree ("order_id","at");--> statement-breakpoint
CREATE INDEX "traffic_hours_order" ON "traffic_hours" USING btree ("order_id","at");--> statement-breakpoint
CREATE INDEX "traffic_marks_changed" ON "traffic_marks" USING btree ("changed_at");--> statement-breakpoint
ALTER TABLE "variants" ADD CONSTRAINT "variants_limits" CHECK (least("variants"."traffic_gb", "variants"."mbps", "variants"."connections", "variants"."connections_per_second") > 0);--> statement-breakpoint
CREATE FUNCTION add_counts(had jsonb, more jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  select case when more = '{}' then had when had = '{}' then more else (
    select jsonb_object_agg(code, least(count, 9000000000000000)) from (
      select key as code, sum(value::numeric) as count
      from (select * from jsonb_each_text(had) union all select * from jsonb_each_text(more)) both_of
      group by key
    ) summed
  ) end
$$;
