CREATE TABLE "upgrades" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "upgrades_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"state" text DEFAULT 'running' NOT NULL,
	"version" text NOT NULL,
	"actor_id" bigint NOT NULL,
	"actor_name" text NOT NULL,
	"actor_ip" "inet" NOT NULL,
	"reason" text,
	"params" jsonb,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"ended_at" timestamp with time zone,
	CONSTRAINT "upgrades_state" CHECK ("upgrades"."state" in ('running', 'stopped', 'ending', 'done', 'ended')),
	CONSTRAINT "upgrades_ended" CHECK (("upgrades"."ended_at" is null) = ("upgrades"."state" in ('running', 'stopped', 'ending')))
);
--> statement-breakpoint
CREATE TABLE "upgrade_servers" (
	"upgrade_id" bigint NOT NULL,
	"server_id" bigint NOT NULL,
	"position" integer NOT NULL,
	"state" text DEFAULT 'waiting' NOT NULL,
	"from_version" text,
	"asked_at" text,
	"reason" text,
	"params" jsonb,
	CONSTRAINT "upgrade_servers_upgrade_id_server_id_pk" PRIMARY KEY("upgrade_id","server_id"),
	CONSTRAINT "upgrade_servers_state" CHECK ("upgrade_servers"."state" in ('waiting', 'installing', 'upgraded', 'failed', 'left_out')),
	CONSTRAINT "upgrade_servers_asked" CHECK ("upgrade_servers"."state" <> 'installing' or "upgrade_servers"."asked_at" is not null),
	CONSTRAINT "upgrade_servers_reason" CHECK (("upgrade_servers"."reason" is not null) = ("upgrade_servers"."state" in ('failed', 'left_out')))
);
--> statement-breakpoint
ALTER TABLE "upgrade_servers" ADD CONSTRAINT "upgrade_servers_upgrade_id_upgrades_id_fk" FOREIGN KEY ("upgrade_id") REFERENCES "public"."upgrades"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "upgrade_servers" ADD CONSTRAINT "upgrade_servers_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE UNIQUE INDEX "upgrades_one_key" ON "upgrades" USING btree ((true)) WHERE "upgrades"."ended_at" is null;--> statement-breakpoint
CREATE INDEX "upgrades_ended" ON "upgrades" USING btree ("ended_at");--> statement-breakpoint
CREATE INDEX "upgrade_servers_server" ON "upgrade_servers" USING btree ("server_id");
