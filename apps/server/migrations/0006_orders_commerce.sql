ALTER TABLE "orders" ADD COLUMN "fail_code" text;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "fail_params" jsonb;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "task_begun_at" timestamp with time zone;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "task_error_code" text;--> statement-breakpoint
ALTER TABLE "orders" ADD COLUMN "task_error_params" jsonb;--> statement-breakpoint
ALTER TABLE "platform_events" ADD COLUMN "detail" jsonb;--> statement-breakpoint
-- What was kept as sentences becomes codes and their parameters.
UPDATE "orders" SET
  "fail_code" = case
    when "fail_reason" like 'Out of stock%' then 'out_of_stock'
    when "fail_reason" like 'Too little money: paid % of %' then 'underpaid'
    when "fail_reason" like 'A server refused the proxies: %' then 'agent_refused'
    when "fail_reason" ~ '^\d+ addresses belong to no server any more$' then 'addresses_lost' end,
  "fail_params" = case
    when "fail_reason" like 'Too little money: paid % of %' then jsonb_build_object(
      'paid', substring("fail_reason" from 'paid (\S+) of '), 'due', substring("fail_reason" from ' of (\S+)$'))
    when "fail_reason" like 'A server refused the proxies: %'
      then jsonb_build_object('message', substr("fail_reason", length('A server refused the proxies: ') + 1))
    when "fail_reason" ~ '^\d+ addresses belong to no server any more$'
      then jsonb_build_object('count', split_part("fail_reason", ' ', 1)::int) end
WHERE "fail_reason" is not null;--> statement-breakpoint
UPDATE "orders" SET
  "task_error_code" = case
    when "task_error" like 'Out of stock%' then 'out_of_stock'
    when "task_error" like 'A server refused the proxies: %' then 'agent_refused' end,
  "task_error_params" = case when "task_error" like 'A server refused the proxies: %'
    then jsonb_build_object('message', substr("task_error", length('A server refused the proxies: ') + 1)) end
WHERE "task_error" is not null;--> statement-breakpoint
UPDATE "orders" o SET "task_begun_at" = e."at" FROM "order_events" e
WHERE o."task" is not null and e."order_id" = o."id" and e."kind" = 'task begun' and e."detail" ->> 'task_id' = o."task_id";--> statement-breakpoint
UPDATE "order_events" SET "kind" = case "kind"
  when 'expiry set' then 'expiry_set'
  when 'reservation ended' then 'reservation_ended'
  when 'paid again' then 'paid_again'
  when 'task asked' then 'task_requested'
  when 'task begun' then 'task_begun'
  when 'task done' then 'task_done'
  else 'task_failed' end
WHERE "kind" in ('expiry set', 'reservation ended', 'paid again', 'task asked', 'task begun', 'task done', 'task failed');--> statement-breakpoint
UPDATE "platform_events" SET
  "detail" = case
    when "outcome" like 'no order of ours is named%'
      then jsonb_build_object('order_id', substring("outcome" from '\(order_id (.*)\)$'))
    when "outcome" like 'renewal of order %' or "outcome" ~ '^order \S+: paid ' then jsonb_build_object(
      'order_id', substring("outcome" from 'order (\S+): '), 'paid', substring("outcome" from ': paid (\S+) of '),
      'due', substring("outcome" from ' of (\S+)$'))
    when "outcome" like 'order % cannot be renewed; refund %' then jsonb_build_object(
      'order_id', substring("outcome" from '^order (\S+) '), 'state', substring("outcome" from ' is (\S+) and '),
      'platform_order', substring("outcome" from 'refund (.*)$'))
    when "outcome" like 'order % was paid already; refund %' then jsonb_build_object(
      'order_id', substring("outcome" from '^order (\S+) '), 'platform_order', substring("outcome" from 'refund (.*)$'))
    when "outcome" like 'order % was paid too late%'
      then jsonb_build_object('order_id', substring("outcome" from '^order (\S+) ')) end,
  "outcome" = case
    when "outcome" in ('settled', 'applied', 'withdrawn') then "outcome"
    when "outcome" = 'known' then 'duplicate'
    when "outcome" = 'nothing to do' then 'ignored'
    when "outcome" = 'not in the shop' then 'not_sold'
    when "outcome" = 'older than what is known' then 'older'
    when "outcome" like 'no order of ours is named%' then 'unknown_order'
    when "outcome" like 'renewal of order %' then 'renewal_underpaid'
    when "outcome" ~ '^order \S+: paid ' then 'underpaid'
    when "outcome" like 'order % cannot be renewed; refund %' then 'renewal_too_late'
    when "outcome" like 'order % was paid already; refund %' then 'paid_twice'
    when "outcome" like 'order % was paid too late%' then 'too_late'
    else 'unreadable' end
WHERE "outcome" is not null;--> statement-breakpoint
-- The sweep of events has another queue.
DO $$ BEGIN
  IF to_regclass('pgboss.schedule') IS NOT NULL THEN
    DELETE FROM pgboss.schedule WHERE name = 'resettle-payments';
  END IF;
END $$;--> statement-breakpoint
ALTER TABLE "proxies" DROP COLUMN "port";--> statement-breakpoint
ALTER TABLE "orders" DROP COLUMN "fail_reason";--> statement-breakpoint
ALTER TABLE "orders" DROP COLUMN "task_error";--> statement-breakpoint
ALTER TABLE "order_events" ADD CONSTRAINT "order_events_kind" CHECK ("order_events"."kind" in ('placed', 'pay', 'time_out', 'fail', 'start_delivery', 'deliver_part', 'deliver_all', 'expire', 'leased', 'reservation_ended', 'paid_again', 'renewed', 'expiry_set', 'task_requested', 'task_begun', 'task_done', 'task_failed', 'deleted'));--> statement-breakpoint
ALTER TABLE "orders" ADD CONSTRAINT "orders_fail_code" CHECK ("orders"."fail_code" in ('out_of_stock', 'underpaid', 'agent_refused', 'addresses_lost'));--> statement-breakpoint
ALTER TABLE "orders" ADD CONSTRAINT "orders_task" CHECK ("orders"."task" in ('deliver', 'check', 'change', 'reset'));--> statement-breakpoint
ALTER TABLE "orders" ADD CONSTRAINT "orders_task_error" CHECK ("orders"."task_error_code" in ('out_of_stock', 'agent_refused'));--> statement-breakpoint
ALTER TABLE "orders" ADD CONSTRAINT "orders_task_begun" CHECK ("orders"."task_begun_at" is null or "orders"."task" is not null);--> statement-breakpoint
ALTER TABLE "platform_events" ADD CONSTRAINT "platform_events_outcome" CHECK ("platform_events"."outcome" in ('settled', 'duplicate', 'unknown_order', 'underpaid', 'too_late', 'paid_twice', 'renewal_too_late', 'renewal_underpaid', 'unreadable', 'applied', 'withdrawn', 'not_sold', 'older', 'ignored'));