import { findRefusedClient, readOperators } from './domains/accounts/index.ts'
import { catalogFinders } from './domains/catalog/index.ts'
import { certificateFinder } from './domains/certificates/index.ts'
import { findRefusedBot } from './domains/chat/index.ts'
import { commerceFinders, findRefusedTokens } from './domains/commerce/index.ts'
import { abuseFinder } from './domains/convergence/index.ts'
import { paymentFinders } from './domains/inbox/index.ts'
import { cidrs } from './domains/inventory/tables.ts'
import { type NoticeFinder, type NoticePorts, ownFinders } from './domains/notices/index.ts'
import { orderFinders } from './domains/orders/index.ts'
import { proofFinder } from './domains/proofs/index.ts'
import { upgradeFinder } from './domains/provisioning/index.ts'
import { serverFinders } from './domains/servers/index.ts'
import { servers } from './domains/servers/tables.ts'
import { supportFinders } from './domains/support/index.ts'
import type { Executor } from './infra/db/client.ts'
import { and, isNull, sql } from './infra/db/drizzle.ts'

/** Do some of these addresses belong to the shop's servers, or to ranges that are or were leased out? */
export async function ownsAddresses(db: Executor, addresses: readonly string[]): Promise<boolean> {
  const asked = sql`any (${sql.param([...addresses])}::inet[])`
  const [server] = await db
    .select({ id: servers.id })
    .from(servers)
    .where(and(isNull(servers.deletedAt), sql`${servers.ip} = ${asked}`))
    .limit(1)
  if (server) return true
  const [range] = await db
    .select({ id: cidrs.id })
    .from(cidrs)
    .where(and(isNull(cidrs.deletedAt), sql`${cidrs.cidr} >>= ${asked}`))
    .limit(1)
  return range !== undefined
}

/** Refused tokens of all services. Each domain knows its own. */
const refusedTokens: NoticeFinder = {
  cause: 'token',
  every: 1,
  find: async ctx => [
    ...(await findRefusedTokens(ctx)),
    ...(await findRefusedBot(ctx)),
    ...(await findRefusedClient(ctx))
  ]
}

/** What notices need from higher domains: the operators, and a finder for each cause. */
export const noticePorts: NoticePorts = {
  finders: [
    ...serverFinders,
    certificateFinder,
    proofFinder,
    abuseFinder,
    upgradeFinder,
    ...orderFinders,
    ...paymentFinders,
    ...commerceFinders,
    refusedTokens,
    ...catalogFinders,
    ...supportFinders,
    ...ownFinders
  ],
  operators: readOperators,
  ownsAddresses
}
