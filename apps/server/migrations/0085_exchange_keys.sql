ALTER TABLE "gift_cards" ADD COLUMN "exchange_key" text;--> statement-breakpoint
CREATE UNIQUE INDEX "gift_cards_exchange_key" ON "gift_cards" USING btree ("exchanged_by","exchange_key");