CREATE TABLE "access_proofs" (
	"id" bigint PRIMARY KEY GENERATED ALWAYS AS IDENTITY (sequence name "access_proofs_id_seq" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1),
	"kind" text NOT NULL,
	"cause" text NOT NULL,
	"state" text DEFAULT 'waiting' NOT NULL,
	"order_id" bigint NOT NULL,
	"server_id" bigint NOT NULL,
	"username" text NOT NULL,
	"password" text,
	"prefixes" text[] NOT NULL,
	"generation" bigint,
	"tries" jsonb DEFAULT '[]'::jsonb NOT NULL,
	"attempts" integer DEFAULT 0 NOT NULL,
	"next_at" timestamp with time zone,
	"asked_at" timestamp with time zone DEFAULT now() NOT NULL,
	"settled_at" timestamp with time zone,
	"acknowledged_at" timestamp with time zone,
	"acknowledged_by" text,
	CONSTRAINT "access_proofs_kind" CHECK ("access_proofs"."kind" in ('revocation', 'hand_over')),
	CONSTRAINT "access_proofs_cause" CHECK ("access_proofs"."cause" in ('removed', 'password', 'addresses', 'grace_ended', 'served')),
	CONSTRAINT "access_proofs_state" CHECK ("access_proofs"."state" in ('waiting', 'proved', 'failed', 'mended', 'not_proved')),
	CONSTRAINT "access_proofs_password" CHECK ("access_proofs"."password" is null or "access_proofs"."state" in ('waiting', 'failed'))
);
--> statement-breakpoint
ALTER TABLE "agent_users" ADD COLUMN "hand_over" boolean DEFAULT true NOT NULL;--> statement-breakpoint
ALTER TABLE "servers" ADD COLUMN "withheld_ranges" text[] DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE "servers" ADD COLUMN "next_proof_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "access_proofs" ADD CONSTRAINT "access_proofs_server_id_servers_id_fk" FOREIGN KEY ("server_id") REFERENCES "public"."servers"("id") ON DELETE cascade ON UPDATE no action;--> statement-breakpoint
CREATE INDEX "access_proofs_order" ON "access_proofs" USING btree ("order_id","id");--> statement-breakpoint
CREATE INDEX "access_proofs_server" ON "access_proofs" USING btree ("server_id","id");--> statement-breakpoint
CREATE INDEX "access_proofs_asked" ON "access_proofs" USING btree ("asked_at");--> statement-breakpoint
CREATE INDEX "access_proofs_due" ON "access_proofs" USING btree ("server_id","next_at") WHERE "access_proofs"."next_at" is not null;--> statement-breakpoint
CREATE INDEX "access_proofs_unconfirmed" ON "access_proofs" USING btree ("server_id","username") WHERE "access_proofs"."generation" is not null;--> statement-breakpoint
CREATE INDEX "access_proofs_open" ON "access_proofs" USING btree ("id") WHERE "access_proofs"."state" = 'failed';--> statement-breakpoint
-- Those that were handed over before anything was tried are not tried any more.
UPDATE "agent_users" SET "hand_over" = false WHERE "applied_generation" > 0;--> statement-breakpoint
-- A group sells neither what agents refused nor what is withheld.
CREATE OR REPLACE VIEW inventory.sellers AS
  SELECT m.group_id, m.server_id, (s.refused_ranges || s.withheld_ranges)::inet[] AS refused_ranges
  FROM server_group_servers m
  JOIN server_groups g ON g.id = m.group_id AND g.deleted_at IS NULL
  JOIN servers s ON s.id = m.server_id AND s.deleted_at IS NULL AND s.status = 'active' AND NOT s.offline;
