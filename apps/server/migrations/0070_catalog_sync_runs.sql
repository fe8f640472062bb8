CREATE TABLE "catalog_sync_runs" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "catalog_sync_runs_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"what" text NOT NULL,
	"state" text DEFAULT 'reading' NOT NULL,
	"step" text DEFAULT 'waiting' NOT NULL,
	"done" integer DEFAULT 0 NOT NULL,
	"total" integer,
	"actor_id" bigint NOT NULL,
	"actor_name" text NOT NULL,
	"actor_ip" "inet" NOT NULL,
	"source" jsonb,
	"plan" jsonb,
	"version" text,
	"counts" jsonb,
	"reason" text,
	"params" jsonb,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"ready_at" timestamp with time zone,
	"ended_at" timestamp with time zone,
	CONSTRAINT "catalog_sync_runs_what" CHECK ("catalog_sync_runs"."what" in ('catalogue', 'collections', 'tags')),
	CONSTRAINT "catalog_sync_runs_state" CHECK ("catalog_sync_runs"."state" in ('reading', 'ready', 'applying', 'applied', 'failed', 'cancelled')),
	CONSTRAINT "catalog_sync_runs_step" CHECK ("catalog_sync_runs"."step" in ('waiting', 'groupings', 'products', 'single', 'comparing', 'applying')),
	CONSTRAINT "catalog_sync_runs_ended" CHECK (("catalog_sync_runs"."ended_at" is null) = ("catalog_sync_runs"."state" in ('reading', 'ready', 'applying'))),
	CONSTRAINT "catalog_sync_runs_source" CHECK (num_nonnulls("catalog_sync_runs"."source", "catalog_sync_runs"."plan", "catalog_sync_runs"."version") = case when "catalog_sync_runs"."state" in ('ready', 'applying') then 3 else 0 end)
);
--> statement-breakpoint
CREATE UNIQUE INDEX "catalog_sync_runs_unended" ON "catalog_sync_runs" USING btree ("what") WHERE "catalog_sync_runs"."ended_at" is null;--> statement-breakpoint
CREATE INDEX "catalog_sync_runs_created" ON "catalog_sync_runs" USING btree ("created_at");