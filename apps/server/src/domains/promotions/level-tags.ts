import { and, eq, inArray, isNull } from '../../infra/db/drizzle.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { lower } from '../../infra/db/columns.ts'
import type { ListedCustomer, Shopify, ShopifyCustomer, ShopifyResult } from '../../integrations/shopify/index.ts'
import { levelOf } from '../accounts/index.ts'
import { users } from '../accounts/tables.ts'
import { openPlatform } from '../commerce/index.ts'
import { levelTagsQueue, levelThresholds } from '../rewards/index.ts'

/** The platform's tag of a level's customers: `netlet-level-3`; none for level 0. Other tags are the operator's. */
const TAG = /^netlet-level-\d+$/

const wantedTags = (level: number): string[] => (level > 0 ? [`netlet-level-${level}`] : [])

/**
 * Gives a user's customer on the platform the tag of its level and removes other levels' tags. The platform has no
 * customer for users who never bought.
 * @throws if a retry may help
 */
export async function tagCustomer(ctx: AppContext, { userId }: { userId: number }): Promise<void> {
  const platform = await openPlatform(ctx)
  if (!platform.ok) return
  const [user] = await ctx.db
    .select({ email: users.email, points: users.levelPoints })
    .from(users)
    .where(and(eq(users.id, userId), isNull(users.deletedAt)))
  if (!user) return
  const customer = await platform.data.customer(user.email)
  if (!customer.ok) throw new Error(customer.message)
  if (!customer.value) return
  const tagged = await correctTags(platform.data, customer.value, levelOf(user.points, await levelThresholds(ctx.db)))
  if (tagged.ok) return
  if (tagged.reason !== 'rejected') throw new Error(tagged.message)
  ctx.log.error({ userId, reason: tagged.message }, 'the platform did not tag a customer')
}

/** @returns whether anything was changed */
async function correctTags(
  platform: Shopify,
  customer: ShopifyCustomer,
  level: number
): Promise<ShopifyResult<boolean>> {
  const wanted = wantedTags(level)
  const add = wanted.filter(tag => !customer.tags.includes(tag))
  const remove = customer.tags.filter(tag => TAG.test(tag) && !wanted.includes(tag))
  if (add.length === 0 && remove.length === 0) return { ok: true, value: false }
  const tagged = await platform.tagCustomer(customer.id, { add, remove })
  return tagged.ok ? { ok: true, value: true } : tagged
}

/** Limits of one run: pages of 100 customers that it reads, and customers that it tags. */
const RUN_LIMITS = { pages: 20, changes: 100 }

/**
 * Corrects the level tags of all the platform's customers. Customers without a user here get none; those whose address
 * the app may not read keep theirs. An interrupted run resumes where its job says.
 * @throws if a retry may help
 */
export async function compareCustomers(
  ctx: AppContext,
  { after = null }: { after?: string | null },
  { pages, changes }: typeof RUN_LIMITS = RUN_LIMITS
): Promise<{ read: number; changed: number } | undefined> {
  const platform = await openPlatform(ctx)
  if (!platform.ok) return undefined
  const counts = { read: 0, changed: 0 }
  let cursor: string | null = after
  for (let count = 0; count < pages && counts.changed < changes; count++) {
    const page: Awaited<ReturnType<Shopify['customers']>> = await platform.data.customers(cursor)
    if (!page.ok) throw new Error(page.message)
    const levelFor = await levelsOf(ctx.db, page.value.nodes)
    for (const customer of page.value.nodes) {
      if (customer.email === undefined) continue
      const corrected = await correctTags(platform.data, customer, levelFor(customer))
      if (!corrected.ok && corrected.reason !== 'rejected') throw new Error(corrected.message)
      if (!corrected.ok) ctx.log.error({ reason: corrected.message }, 'the platform did not tag a customer')
      else if (corrected.value) counts.changed++
    }
    counts.read += page.value.nodes.length
    cursor = page.value.next
    if (cursor === null) break
  }
  const next = cursor
  if (next !== null)
    await command(ctx, SYSTEM, async unit => unit.jobs.send(levelTagsQueue, { after: next }, { key: next }))
  ctx.log.info({ ...counts, goesOn: next !== null }, 'tags of customers compared')
  return counts
}

/** The level of each of these customers, with two queries for a page. */
async function levelsOf(db: Executor, customers: readonly ListedCustomer[]) {
  const emails = customers.flatMap(({ email }) => (email ? [email.toLowerCase()] : []))
  const thresholds = await levelThresholds(db)
  const rows =
    emails.length === 0
      ? []
      : await db
          .select({ email: users.email, points: users.levelPoints })
          .from(users)
          .where(and(inArray(lower(users.email), emails), isNull(users.deletedAt)))
  const byEmail = new Map(rows.map(({ email, points }) => [email.toLowerCase(), levelOf(points, thresholds)]))
  return ({ email }: ListedCustomer): number => byEmail.get(email?.toLowerCase() ?? '') ?? 0
}
