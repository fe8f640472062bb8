import { sql } from 'drizzle-orm'
import type { Database } from '../../apps/server/src/infra/db/client.ts'

const PRODUCTS = 50

/** A medium-sized shop: 50 products with 6 variants each, in collections and with tags. */
export async function fillShelf(db: Database): Promise<void> {
  await db.execute(
    sql`insert into server_groups (created_at, name) select now(), 'Group ' || g from generate_series(1, 4) g`
  )
  await db.execute(sql`insert into collections (created_at, platform_id, name, description)
    select now(), g::text, 'Collection ' || g, 'Addresses for every purpose' from generate_series(1, 3) g`)
  await db.execute(
    sql`insert into tags (created_at, platform_name, name) select now(), 'tag ' || g, 'Tag ' || g from generate_series(1, 8) g`
  )
  await db.execute(sql`insert into products (created_at, platform_id, name, description)
    select now(), (1000 + g)::text, 'Plan ' || g, repeat('Fast, steady and welcome almost everywhere. ', 5)
    from generate_series(1, ${PRODUCTS}) g`)
  await db.execute(sql`insert into product_collections (product_id, collection_id) select id, 1 + id % 3 from products`)
  await db.execute(sql`insert into product_tags (product_id, tag_id)
    select id, 1 + (id + t) % 8 from products, generate_series(0, 2) t`)
  await db.execute(sql`insert into product_options (product_id, position, name, values)
    select id, 1, 'Location', '{New York,London,Tokyo}'::text[] from products
    union all select id, 2, 'Block', '{Single address,Block of 8}'::text[] from products`)
  await db.execute(sql`insert into variants
      (created_at, product_id, platform_id, name, description, option1, option2, price, cart_step, server_group_id)
    select now(), p.id, (p.id * 100 + row_number() over (partition by p.id))::text, place || ' / ' || size, place, place, size,
      2.20, case size when 'Block of 8' then 8 else 1 end, 1 + p.id % 4
    from products p, unnest('{New York,London,Tokyo}'::text[]) place, unnest('{Single address,Block of 8}'::text[]) size`)
}
