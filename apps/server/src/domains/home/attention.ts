import {
  ATTENTION_ITEMS,
  type AttentionItem,
  type ReplyOf,
  SETUP_STEPS,
  type SetupStep,
  type routes
} from '@netlet/contract'
import { type UserActor, mayDo } from '../../infra/actor.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { sql } from '../../infra/db/drizzle.ts'
import { countDead } from '../../infra/dead-letters.ts'
import { countPriceDrifts } from '../catalog/index.ts'
import { products, variants } from '../catalog/tables.ts'
import { countLateEvents, countRefused, countClosedCheckouts, openPlatform } from '../commerce/index.ts'
import { countOpenAlarms } from '../convergence/index.ts'
import { countUnresolvedEvents } from '../inbox/index.ts'
import { aclRules } from '../inventory/tables.ts'
import { mailIsSetUp, mailTroubles } from '../mail/index.ts'
import { countUndeliveredNotices } from '../notices/index.ts'
import { countUndelivered } from '../orders/index.ts'
import { countOpenProofs } from '../proofs/index.ts'
import { countStoppedUpgrades } from '../provisioning/index.ts'
import { countTroubledServers } from '../servers/index.ts'
import { serverGroupServers, serverGroups, servers } from '../servers/tables.ts'
import { readSettings } from '../settings/index.ts'
import { countOpenTickets } from '../support/index.ts'

type AttentionList = ReplyOf<(typeof routes)['home']['attention']>

/** Each counts the rows that one list finds with its filter. */
const counts: Readonly<Record<Exclude<AttentionItem, 'stock'>, (db: Executor, now: Date) => Promise<number>>> = {
  undelivered: countUndelivered,
  payments: countUnresolvedEvents,
  store_password: countClosedCheckouts,
  webhooks: countRefused,
  late_events: countLateEvents,
  servers: countTroubledServers,
  upgrades: countStoppedUpgrades,
  abuse: countOpenAlarms,
  proofs: countOpenProofs,
  dead_letters: countDead,
  mails: async db => (await mailTroubles(db)).failed,
  notices: countUndeliveredNotices,
  prices: countPriceDrifts,
  tickets: countOpenTickets
}

const ALL = Object.keys(ATTENTION_ITEMS) as AttentionItem[]

/**
 * What needs attention, for every role. A count that fails does not hide the others.
 * @param lowStock counts products that are low on stock; it is expensive, so the caller caches it
 */
export const readAttention = (
  { db, log, now }: Pick<AppContext, 'db' | 'log' | 'now'>,
  { lowStock }: { lowStock: () => Promise<number> }
): Promise<AttentionList> =>
  Promise.all(
    ALL.map(async what => ({
      what,
      count: await (what === 'stock' ? lowStock() : counts[what](db, now())).catch((error: unknown) => {
        log.error({ err: error, what }, 'what needs attention cannot be counted')
        return null
      })
    }))
  )

export const attentionFor = (list: AttentionList, by: UserActor): AttentionList =>
  list.filter(({ what }) => mayDo(by, ATTENTION_ITEMS[what]))

/** Which setup steps a new shop has done, in order. */
export async function readSetup(ctx: AppContext) {
  const { db, secrets, config } = ctx
  const settings = await readSettings(db, secrets)
  const { rows } = await db.execute<Record<Exclude<SetupStep, 'platform' | 'mail'>, boolean>>(sql`
    select exists (select from ${aclRules}) as rule,
      exists (select from ${servers} where deleted_at is null and status <> 'given_up') as server,
      exists (
        select from ${serverGroups} g join ${serverGroupServers} on group_id = g.id where g.deleted_at is null
      ) as "group",
      exists (
        select from ${variants} v join ${products} p on p.id = v.product_id
        where v.deleted_at is null and v.is_active and v.server_group_id is not null and p.deleted_at is null and p.active
      ) as product`)
  const [there] = rows
  const done: Record<SetupStep, boolean> = {
    platform: settings.shopify_api_secret !== '' && (await openPlatform(ctx)).ok,
    mail: mailIsSetUp(settings, config),
    rule: there?.rule ?? false,
    server: there?.server ?? false,
    group: there?.group ?? false,
    product: there?.product ?? false
  }
  return SETUP_STEPS.map(step => ({ step, done: done[step] }))
}
