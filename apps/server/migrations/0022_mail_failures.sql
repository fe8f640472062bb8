ALTER TABLE "mails" ADD COLUMN "error_code" text;--> statement-breakpoint
ALTER TABLE "mails" ADD CONSTRAINT "mails_error_code" CHECK ("mails"."error_code" in ('code_expired', 'no_such_address', 'switched_off', 'not_configured', 'unauthorized', 'rejected', 'throttled', 'timeout', 'network', 'server_error'));--> statement-breakpoint
-- Sentences of our own name their code; what a mail service said of earlier mails stays as it was.
UPDATE "mails" SET "error_code" = CASE "error"
  WHEN 'its code expired while it waited' THEN 'code_expired'
  WHEN 'the address does not exist' THEN 'no_such_address'
  WHEN 'switched off by its recipient' THEN 'switched_off'
END WHERE "state" = 'skipped';
