import {
  mayOperate,
  ATTENTION_ITEMS,
  type AttentionItem,
  type OperatorRole,
  type ReplyOf,
  type routes
} from '@netlet/contract'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { countDead } from '../../infra/dead-letters.ts'
import { countPriceDrifts } from '../catalog/index.ts'
import { countLateEvents, countRefused, countStorePasswords } from '../commerce/index.ts'
import { countOpenAlarms } from '../convergence/index.ts'
import { countOpenProofs } from '../proofs/index.ts'
import { countTroubledServers } from '../servers/index.ts'
import { countStoppedUpgrades } from '../provisioning/index.ts'
import { mailTroubles } from '../mail/index.ts'
import { countUndeliveredNotices } from '../notices/index.ts'
import { countUndelivered } from '../orders/index.ts'
import { countUnresolvedEvents } from '../inbox/index.ts'
import { countOpenTickets } from '../support/index.ts'

type AttentionList = ReplyOf<(typeof routes)['home']['attention']>

/** Each counts the rows that one list finds with its filter. */
const counts: Readonly<Record<Exclude<AttentionItem, 'stock'>, (db: Executor, now: Date) => Promise<number>>> = {
  undelivered: countUndelivered,
  payments: countUnresolvedEvents,
  store_password: countStorePasswords,
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

export const attentionFor = (list: AttentionList, role: OperatorRole | null): AttentionList =>
  list.filter(({ what }) => mayOperate(role, ATTENTION_ITEMS[what]))
