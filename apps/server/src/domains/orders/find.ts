import { and, asc, desc, eq, ilike, inArray, or, sql } from '../../infra/db/drizzle.ts'
import type { Executor } from '../../infra/db/client.ts'
import { isInet } from '../../infra/db/columns.ts'
import { containing, hasTrigram } from '../../infra/db/like.ts'
import { idsByText, type Match } from '../../infra/list/index.ts'
import { nameContains } from '../../infra/translations.ts'
import { usernameAndEmail, users } from '../accounts/tables.ts'
import { productCollections, products } from '../catalog/tables.ts'
import { addressHolders } from '../inventory/index.ts'
import { listed, orderProductNames, orders } from './tables.ts'

/** The rows of small tables, or the orders, that a search text matches. */
export type Found = { anyOf: NonNullable<Match['anyOf']>; capped?: boolean }

/** At most this many users that match a part of a name. */
const MOST_USERS = 100
const MOST_PRODUCTS = 200
const MOST_IDS = 1000
const MOST_WORDS = 20

/** What the search needs from a domain above this one. */
export type FindPorts = {
  /** The orders that a platform order paid for, by the platform's id. */
  ordersPaidBy: (db: Executor, platformOrderId: string) => Promise<number[]>
}

const nothing: Found = { anyOf: [] }

/**
 * What a search text matches. It looks up an id, a platform number, an address or an e-mail exactly; any other text is
 * a part of a product's name, a user's name or an order's id. A customer's search also reads its own labels and the
 * names of its plans.
 */
export async function findByText(
  db: Executor,
  text: string,
  { userId, now, ordersPaidBy }: FindPorts & { userId: number | null; now: Date }
): Promise<Found> {
  const exact = isInet(text)
    ? await ordersAt(db, text, now)
    : await findExactly(db, text, { userId, withUsers: userId === null, ordersPaidBy })
  // A customer's label may look like an id or an address.
  const named = userId === null ? nothing : await idsNamedSo(db, text, userId)
  if (exact || /^#\d+$/.test(text)) return union([exact ?? nothing, named])
  return union([
    named,
    ...(await Promise.all([
      findProducts(db, text),
      idsContaining(db, text),
      userId === null ? findUsers(db, text) : nothing
    ]))
  ])
}

const union = (parts: Found[]): Found => ({
  anyOf: parts.flatMap(part => part.anyOf),
  capped: parts.some(part => part.capped)
})

/** Orders by their public id or a part of it, or by the platform's number. */
export async function findByOrderId(
  db: Executor,
  text: string,
  { userId, ordersPaidBy }: FindPorts & { userId: number | null }
): Promise<Found> {
  return (await findExactly(db, text, { userId, withUsers: false, ordersPaidBy })) ?? idsContaining(db, text)
}

/** Users whose name or e-mail contains the text, exact matches first. */
export async function findUsers(db: Executor, text: string): Promise<Found> {
  const [named, similar] = await Promise.all([
    usersExactly(db, text),
    idsByText(db, { table: users, id: users.id, text: usernameAndEmail }, text, MOST_USERS + 1)
  ])
  const among = [...new Set([...named, ...similar.slice(0, MOST_USERS)])]
  return { anyOf: [{ column: orders.userId, among }], capped: similar.length > MOST_USERS }
}

/** Orders of products by a part of the name under which they were sold, or of its translation. */
export async function findProducts(db: Executor, text: string): Promise<Found> {
  const calledSo = db.select({ name: products.name }).from(products).where(nameContains(products, text))
  const rows = await db
    .select()
    .from(orderProductNames)
    .where(or(ilike(orderProductNames.name, containing(text)), inArray(orderProductNames.name, calledSo)))
    .orderBy(asc(orderProductNames.name))
    .limit(MOST_PRODUCTS + 1)
  const among = rows.slice(0, MOST_PRODUCTS).map(({ name }) => name)
  return { anyOf: [{ column: orders.productName, among }], capped: rows.length > MOST_PRODUCTS }
}

/** Orders of the products that are in a collection now, even if they were not in it when they were sold. */
export async function productsIn(db: Executor, collection: number): Promise<Found> {
  const rows = await db
    .select({ id: productCollections.productId })
    .from(productCollections)
    .where(eq(productCollections.collectionId, collection))
  return { anyOf: [{ column: orders.productId, among: rows.map(({ id }) => id) }] }
}

/** Orders that hold an address at `now`. */
async function ordersAt(db: Executor, ip: string, now: Date): Promise<Found> {
  const held = await addressHolders(db, { ip, at: now })
  return { anyOf: [{ column: orders.id, among: [...new Set(held.map(({ orderId }) => orderId))] }] }
}

/**
 * Orders with exactly this public id, number or platform order id, or of the user with exactly this e-mail.
 * @param withUsers false: an e-mail matches nothing
 * @returns undefined if nothing matches, so that the caller can search by parts of names
 */
export async function findExactly(
  db: Executor,
  text: string,
  { userId, withUsers, ordersPaidBy }: FindPorts & { userId: number | null; withUsers: boolean }
): Promise<Found | undefined> {
  if (text.includes('@')) {
    const found = withUsers ? await usersExactly(db, text) : []
    return found.length > 0 ? { anyOf: [{ column: orders.userId, among: found }] } : undefined
  }
  const number = /^#?(\d{1,15})$/.exec(text)?.[1]
  if (!number && !/^[\w-]{4,40}$/.test(text)) return undefined
  const rows = number ? await idsNumbered(db, number, text, ordersPaidBy) : await idsNamed(db, text)
  const ids = [...new Set(rows.map(({ id }) => id))]
  // Another customer's order must not hide a match among the customer's own orders.
  const among = userId === null || ids.length === 0 ? ids : await ownedBy(db, userId, ids)
  return among.length > 0 ? { anyOf: [{ column: orders.id, among }] } : undefined
}

/** A customer's orders by a part of their label, or of their plan's name in any language. Reads all of its orders. */
async function idsNamedSo(db: Executor, text: string, userId: number): Promise<Found> {
  const { rows: words } = await db.execute<{ original: string }>(sql`
    select distinct word.key as original
    from ${products} cross join jsonb_each_text(${products.translations} #> '{zh-CN,words}') word
    where word.value ilike ${containing(text)} limit ${MOST_WORDS}`)
  const plans = [text, ...words.map(({ original }) => original)]
  const rows = await db
    .select({ id: orders.id })
    .from(orders)
    .where(
      and(
        eq(orders.userId, userId),
        listed(orders),
        or(ilike(orders.label, containing(text)), ...plans.map(plan => ilike(orders.variantName, containing(plan))))
      )
    )
    .orderBy(desc(orders.id))
    .limit(MOST_IDS + 1)
  const among = rows.slice(0, MOST_IDS).map(({ id }) => id)
  return { anyOf: [{ column: orders.id, among }], capped: rows.length > MOST_IDS }
}

async function ownedBy(db: Executor, userId: number, ids: number[]): Promise<number[]> {
  const rows = await db
    .select({ id: orders.id })
    .from(orders)
    .where(and(inArray(orders.id, ids), eq(orders.userId, userId)))
  return rows.map(({ id }) => id)
}

const idsNamed = (db: Executor, text: string) =>
  db
    .select({ id: orders.id })
    .from(orders)
    .where(inArray(orders.publicId, [...new Set([text, text.toUpperCase()])]))

/** By our number, or by the platform's number of the purchase or a renewal. Each branch is one index look-up. */
async function idsNumbered(db: Executor, number: string, text: string, ordersPaidBy: FindPorts['ordersPaidBy']) {
  const numbers = [number, `#${number}`]
  const isId = !text.startsWith('#')
  const [own, paid] = await Promise.all([
    db
      .select({ id: orders.id })
      .from(orders)
      .where(
        or(
          inArray(orders.platformOrderNumber, numbers),
          isId ? eq(orders.id, Number(number)) : undefined,
          isId ? eq(orders.platformOrderId, number) : undefined
        )
      ),
    isId ? ordersPaidBy(db, number) : []
  ])
  return [...own, ...paid.map(id => ({ id }))]
}

async function usersExactly(db: Executor, text: string): Promise<number[]> {
  const column = text.includes('@') ? users.email : users.username
  const rows = await db
    .select({ id: users.id })
    .from(users)
    .where(eq(sql`lower(${column})`, text.toLowerCase()))
  return rows.map(({ id }) => id)
}

/** Orders by a part of their public id. Ids are random, so three letters already match few of them. */
export async function idsContaining(db: Executor, text: string): Promise<Found> {
  if (!/^[\w-]+$/.test(text) || !hasTrigram(text.replace(/^NL-/i, ''))) return nothing
  const { rows } = await db.execute<{ id: number }>(sql`
    with found as materialized (select ${orders.id} as id from ${orders} where ${ilike(orders.publicId, containing(text))})
    select id from found order by id desc limit ${MOST_IDS + 1}`)
  const among = rows.slice(0, MOST_IDS).map(({ id }) => id)
  return { anyOf: [{ column: orders.id, among }], capped: rows.length > MOST_IDS }
}
