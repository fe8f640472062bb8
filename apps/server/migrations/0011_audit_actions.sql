-- Entries of before are named as the commands name theirs now: 'user.edit_user' is 'user.edit'.
UPDATE "audit_log" SET "action" = renamed."to"
FROM (VALUES
  ('user.ban_user', 'user.ban'),
  ('user.unban_user', 'user.unban'),
  ('user.edit_user', 'user.edit'),
  ('user.delete_user', 'user.delete'),
  ('user.switch_user', 'user.switch'),
  ('user.create_first_administrator', 'user.create'),
  ('product.create_product', 'product.create'),
  ('product.edit_product', 'product.edit'),
  ('product.delete_product', 'product.delete'),
  ('product.withdraw_product', 'product.withdraw'),
  ('product.follow_platform', 'product.follow'),
  ('collection.edit_collection', 'collection.edit'),
  ('collection.delete_collection', 'collection.delete'),
  ('collection.sync_collections', 'collection.sync'),
  ('tag.edit_tag', 'tag.edit'),
  ('tag.delete_tag', 'tag.delete'),
  ('tag.sync_tags', 'tag.sync'),
  ('server.flush_access_log', 'server.request_flush'),
  ('server.call_agent', 'server.request_call'),
  ('order.deliver_proxies', 'order.deliver'),
  ('order.change_proxies', 'order.change'),
  ('order.reset_proxies', 'order.reset'),
  ('order.extend_order', 'order.extend'),
  ('order.delete_order', 'order.delete'),
  ('coupon.create_coupon', 'coupon.create'),
  ('coupon.edit_coupon', 'coupon.edit'),
  ('coupon.delete_coupon', 'coupon.delete'),
  ('gift_card.create_gift_card', 'gift_card.create'),
  ('gift_card.edit_gift_card', 'gift_card.edit'),
  ('gift_card.delete_gift_card', 'gift_card.delete'),
  ('level_code.create_level', 'level_code.create'),
  ('level_code.edit_level', 'level_code.edit'),
  ('level_code.delete_level', 'level_code.delete'),
  ('faq.create_question', 'faq.create'),
  ('faq.edit_question', 'faq.edit'),
  ('faq.delete_question', 'faq.delete'),
  ('ticket.delete_ticket', 'ticket.delete'),
  ('settings.save_settings', 'settings.save')
) AS renamed ("from", "to")
WHERE "audit_log"."action" = renamed."from";--> statement-breakpoint
-- Queues that have another name, or none, now. The sweep asks again for the events; the workers register the webhooks
-- when they start.
DO $$ BEGIN
  IF to_regclass('pgboss.job') IS NOT NULL THEN
    DELETE FROM pgboss.job
    WHERE name IN ('catalog.apply-product-event', 'catalog.register-webhooks', 'resettle-payments');
  END IF;
END $$;
