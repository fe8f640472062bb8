CREATE SEQUENCE "public"."change_event_id" INCREMENT BY 1 MINVALUE 1 MAXVALUE 9223372036854775807 START WITH 1 CACHE 1;--> statement-breakpoint
ALTER TABLE "audit_log" ADD COLUMN "viewed_as" text;--> statement-breakpoint
-- Actions are named 'target.verb' from here on, and targets by one list of names.
UPDATE "audit_log" SET
  "target_type" = replace(lower("target_type"), ' ', '_'),
  "action" = replace(lower("target_type"), ' ', '_') || '.' || replace(lower("action"), ' ', '_')
WHERE position('.' in "action") = 0;
