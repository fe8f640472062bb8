CREATE TABLE "user_preferences" (
	"user_id" bigint NOT NULL,
	"key" text NOT NULL,
	"value" jsonb NOT NULL,
	"updated_at" timestamp with time zone NOT NULL,
	CONSTRAINT "user_preferences_user_id_key_pk" PRIMARY KEY("user_id","key")
);
--> statement-breakpoint
CREATE TABLE "bulk_rows" (
	"run_id" bigint NOT NULL,
	"row_id" bigint NOT NULL,
	"label" text NOT NULL,
	"state" text DEFAULT 'pending' NOT NULL,
	"reason" text,
	"params" jsonb,
	"msg" text,
	CONSTRAINT "bulk_rows_run_id_row_id_pk" PRIMARY KEY("run_id","row_id"),
	CONSTRAINT "bulk_rows_state" CHECK ("bulk_rows"."state" in ('pending', 'succeeded', 'refused')),
	CONSTRAINT "bulk_rows_reason" CHECK (("bulk_rows"."reason" is not null) = ("bulk_rows"."state" = 'refused'))
);
--> statement-breakpoint
CREATE TABLE "bulk_runs" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "bulk_runs_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"action" text NOT NULL,
	"state" text DEFAULT 'queued' NOT NULL,
	"total" integer NOT NULL,
	"succeeded" integer DEFAULT 0 NOT NULL,
	"refused" integer DEFAULT 0 NOT NULL,
	"actor_id" bigint NOT NULL,
	"actor_name" text NOT NULL,
	"actor_ip" "inet" NOT NULL,
	"reason" text,
	"params" jsonb,
	"created_at" timestamp with time zone DEFAULT now() NOT NULL,
	"ended_at" timestamp with time zone,
	CONSTRAINT "bulk_runs_state" CHECK ("bulk_runs"."state" in ('queued', 'running', 'done', 'cancelled', 'failed')),
	CONSTRAINT "bulk_runs_ended" CHECK (("bulk_runs"."ended_at" is null) = ("bulk_runs"."state" in ('queued', 'running'))),
	CONSTRAINT "bulk_runs_counts" CHECK ("bulk_runs"."succeeded" + "bulk_runs"."refused" <= "bulk_runs"."total")
);
--> statement-breakpoint
ALTER TABLE "user_preferences" ADD CONSTRAINT "user_preferences_user_id_users_id_fk" FOREIGN KEY ("user_id") REFERENCES "public"."users"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
ALTER TABLE "bulk_rows" ADD CONSTRAINT "bulk_rows_run_id_bulk_runs_id_fk" FOREIGN KEY ("run_id") REFERENCES "public"."bulk_runs"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "bulk_rows_state" ON "bulk_rows" USING btree ("run_id","state","row_id");--> statement-breakpoint
CREATE INDEX "bulk_runs_ended" ON "bulk_runs" USING btree ("ended_at");--> statement-breakpoint
CREATE INDEX "bulk_runs_unfinished" ON "bulk_runs" USING btree ("id") WHERE "bulk_runs"."ended_at" is null;