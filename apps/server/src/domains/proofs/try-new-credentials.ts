import type { ProofTry } from '@netlet/contract'
import pLimit from 'p-limit'
import { MINUTE } from '../../infra/clock.ts'
import type { Database } from '../../infra/db/client.ts'
import type { SyncContext, AgentUser, ServerRow } from '../servers/index.ts'
import { samplesOf } from './samples.ts'
import { tried, tryNew } from './try-credentials.ts'

/** What all tries together may take before orders go on. In milliseconds. */
const PATIENCE_MS = 600
const AT_ONCE = 8
/** How long a server is not tried after its proxy, or its way to the check site, was silent. */
const REST_MS = MINUTE

/** Until when (by `performance.now`) a server is not tried, by database. */
const resting = new WeakMap<Database, Map<number, number>>()

/**
 * Tries credentials that an agent has just taken for the first time, or at other addresses, once at each server, before
 * their orders show as delivered. What there is no time for is tried afterwards.
 * @returns by username
 */
export async function tryNewCredentials(
  ctx: SyncContext,
  server: ServerRow,
  users: AgentUser[]
): Promise<Map<string, ProofTry>> {
  const due = users.filter(({ wanted, orderId, handOver }) => wanted && orderId !== null && handOver)
  const found = new Map<string, ProofTry>()
  if (due.length === 0) return found
  const begun = performance.now()
  const rests = restsOf(ctx.db)
  await pLimit(AT_ONCE).map(due, async user => {
    const left = begun + PATIENCE_MS - performance.now()
    const mayDial = left > 0 && (rests.get(server.id) ?? 0) <= performance.now()
    const untried = () => tried(ctx, null, { answer: 'no_time' })
    // A failure here must not keep an order from being delivered.
    const result = mayDial ? await tryOne(ctx, server, user, left).catch(untried) : untried()
    if (result.answer === 'silent' || result.answer === 'site_unreached')
      rests.set(server.id, performance.now() + REST_MS)
    found.set(user.username, result)
  })
  return found
}

/** One try with a user's current credentials. */
export async function tryOne(
  ctx: SyncContext,
  server: Pick<ServerRow, 'proxyPort'>,
  { username, password, prefixes, access }: Pick<AgentUser, 'username' | 'password' | 'prefixes' | 'access'>,
  timeoutMs: number
): Promise<ProofTry> {
  // This process is not one of the listed clients.
  if (access === 'password_and_address') return tried(ctx, null, { answer: 'listed_only' })
  const [address] = samplesOf(prefixes)
  if (address === undefined) return tried(ctx, null, { answer: 'no_time' })
  return tryNew(ctx, { address, port: server.proxyPort, username, password }, { prefixes, timeoutMs })
}

function restsOf(db: Database): Map<number, number> {
  let rests = resting.get(db)
  if (!rests) resting.set(db, (rests = new Map()))
  return rests
}
