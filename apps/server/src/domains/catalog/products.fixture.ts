import type { Database } from '../../infra/db/client.ts'
import { addRow, addRows } from '../../testing/rows.ts'
import { serverGroups, serverGroupServers, servers } from '../servers/tables.ts'
import { addCidr, createRule } from '../inventory/index.ts'
import { collections, productCollections, productOptions, products, productTags, tags, variants } from './tables.ts'

const now = new Date('2026-03-01T12:00:00Z')
let serial = 0

/** A server group with one server that owns these ranges. @returns the ids of group and server */
export async function addGroup(db: Database, cidrs: { cidr: string; excludedRules?: number[] }[]) {
  serial++
  const server = await addRow({ tx: db, now }, servers, { name: `node ${serial}`, ip: '192.0.2.1' })
  const group = await addRow({ tx: db, now }, serverGroups, { name: `group ${serial}` })
  await db.insert(serverGroupServers).values({ groupId: group.id, serverId: server.id })
  for (const range of cidrs) {
    const added = await db.transaction(tx => addCidr({ tx, now }, { ...range, serverId: server.id }))
    if (!added.ok) throw new Error(`range refused: ${added.reason}`)
  }
  return { groupId: group.id, serverId: server.id }
}

export async function addRule(db: Database, price: string, domain: string): Promise<number> {
  serial++
  const made = await db.transaction(tx =>
    createRule(
      { tx, now },
      {
        name: `rule ${serial}`,
        description: 'for tests',
        price,
        platformVariantId: String(900_000 + serial),
        aclValue: domain
      }
    )
  )
  if (!made.ok) throw new Error(`rule refused: ${made.reason}`)
  return made.rule.id
}

type VariantValues = Partial<typeof variants.$inferInsert>
type ProductValues = Partial<typeof products.$inferInsert>

/** Inserts a product with its variants into the tables. */
export async function addProduct(
  db: Database,
  values: ProductValues,
  ofVariants: VariantValues[],
  { collectionIds = [], tagIds = [] }: { collectionIds?: number[]; tagIds?: number[] } = {}
) {
  serial++
  const product = await addRow({ tx: db, now }, products, {
    platformId: String(100_000 + serial),
    name: `Plan ${serial}`,
    ...values
  })
  const productId = product.id
  await db.insert(productOptions).values({ productId, position: 1, name: 'Location', values: ['London', 'Tokyo'] })
  const rows = await addRows(
    { tx: db, now },
    variants,
    ofVariants.map((variant, at) => ({
      productId,
      platformId: `${productId}${at}00`,
      name: 'London',
      option1: `place ${at}`,
      price: '2.20',
      ...variant
    }))
  )
  if (collectionIds.length > 0)
    await db.insert(productCollections).values(collectionIds.map(collectionId => ({ productId, collectionId })))
  if (tagIds.length > 0) await db.insert(productTags).values(tagIds.map(tagId => ({ productId, tagId })))
  return { ...product, variants: rows }
}

export async function addCollection(db: Database, name: string): Promise<number> {
  serial++
  const made = await addRow({ tx: db, now }, collections, { platformId: String(700_000 + serial), name })
  return made.id
}

export async function addTag(db: Database, name: string): Promise<number> {
  serial++
  const made = await addRow({ tx: db, now }, tags, { platformName: `${name} ${serial}`, name })
  return made.id
}
