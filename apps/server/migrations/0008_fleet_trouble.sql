ALTER TABLE "servers" ADD COLUMN "trouble" text;--> statement-breakpoint
ALTER TABLE "servers" ADD COLUMN "trouble_params" jsonb;--> statement-breakpoint
-- What was told apart by the beginning of a sentence. A server that no code fits is looked at again within minutes.
UPDATE "servers" SET
  "trouble" = CASE
    WHEN "last_error" LIKE 'The stored agent token cannot be read%' THEN 'token_unreadable'
    WHEN "unreachable_since" IS NOT NULL THEN 'unreachable'
    WHEN "last_error" ~ '^\d{1,9} of \d{1,9} users that nobody wants' THEN 'removals_waiting'
    WHEN "last_error" LIKE 'The agent did not take its ranges: %' THEN 'prefixes_refused'
    WHEN "last_error" LIKE 'A range that was taken off waits%' THEN 'prefixes_waiting'
  END,
  "trouble_params" = CASE
    WHEN "last_error" LIKE 'The stored agent token cannot be read%' THEN '{}'::jsonb
    WHEN "unreachable_since" IS NOT NULL THEN jsonb_build_object('message', "last_error")
    WHEN "last_error" ~ '^\d{1,9} of \d{1,9} users that nobody wants' THEN jsonb_build_object(
      'count', (regexp_match("last_error", '^(\d+) of (\d+)'))[1]::int,
      'users', (regexp_match("last_error", '^(\d+) of (\d+)'))[2]::int)
    WHEN "last_error" LIKE 'The agent did not take its ranges: %' THEN
      jsonb_build_object('message', substr("last_error", length('The agent did not take its ranges: ') + 1))
    WHEN "last_error" LIKE 'A range that was taken off waits%' THEN '{}'::jsonb
  END
WHERE "last_error" IS NOT NULL;--> statement-breakpoint
ALTER TABLE "servers" DROP COLUMN "last_error";--> statement-breakpoint
ALTER TABLE "servers" ADD CONSTRAINT "servers_trouble" CHECK ("servers"."trouble" in ('unreachable', 'token_unreadable', 'prefixes_refused', 'prefixes_waiting', 'removals_waiting') and ("servers"."trouble" is null) = ("servers"."trouble_params" is null));--> statement-breakpoint
-- Actions on these targets are named by the verb alone: 'server.create_server' is 'server.create'.
UPDATE "audit_log" SET "action" = CASE "action"
    WHEN 'server.create_proxy_user' THEN 'server.create_user'
    WHEN 'server.delete_proxy_user' THEN 'server.delete_user'
    WHEN 'server.delete_all_proxy_users' THEN 'server.delete_all_users'
    WHEN 'cidr.clean_unused_cidrs' THEN 'cidr.clean'
    ELSE replace("action", '_' || "target_type", '')
  END
WHERE "target_type" IN ('server', 'server_group', 'acl_rule', 'acl_group', 'cidr');
