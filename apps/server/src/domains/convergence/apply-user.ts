import pLimit from 'p-limit'
import type { ProofTry } from '@netlet/contract'
import { type AgentUserLimits } from '@netlet/contract/agent'
import { denySetHash, limitsText, userHash } from '@netlet/contract/agent-hashes'
import type { AgentClient } from '../../integrations/agent/index.ts'
import type { Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { DenyLists } from '../inventory/index.ts'
import { requestRevocationProofs, confirmReplaced, recordNewCredentials } from '../proofs/index.ts'
import { recordAnswer, type AgentUser } from '../servers/index.ts'

/**
 * Runs `write`, which records what an agent confirmed, as one command, and moves these orders on in the same
 * transaction. It locks the orders first, in ascending order, because every change of an order locks it before its
 * users.
 */
export type ConfirmPort = (orderIds: number[], write: (unit: Unit) => Promise<void>) => Promise<void>

/** The result for one user on its agent. `reply` is the agent's own answer. */
export type Outcome =
  | { kind: 'applied'; digest: string | null; reply: unknown }
  | { kind: 'refused'; reason: string; message: string }
  | { kind: 'failed'; message: string }

/** Brings one user on the agent to its wanted state. */
export async function applyUser(
  agent: AgentClient,
  user: AgentUser,
  denied: DenyLists,
  limits: AgentUserLimits = {}
): Promise<Outcome> {
  if (!user.wanted) {
    const reply = await agent.deleteUser(user.username)
    return reply.ok ? { kind: 'applied', digest: null, reply: reply.data } : reply
  }
  const { password, prefixes, access, clientIps, egress } = user
  const isLimited = limitsText(limits) !== ''
  const body = {
    password,
    prefixes,
    allowed_client_ips: clientIps,
    ...(access === 'password' ? {} : { access }),
    ...(isLimited ? { limits } : {}),
    ...(egress === 'fixed' ? {} : { egress })
  }
  // Only an operator who adds a user by hand sees its proxies.
  const shown = { proxies: user.orderId === null }
  // Most users of a server share a deny list that the agent already has, so we send only its hash first.
  const known = { ...body, deny_set: denySetHash(denied.denied, denied.allowed) }
  let reply = await agent.putUser(user.username, known, shown)
  if (!reply.ok && reply.kind === 'refused' && reply.reason === 'unknownDenySet') {
    reply = await agent.putUser(
      user.username,
      {
        ...body,
        denied_domains: denied.denied,
        allowed_domains: denied.allowed
      },
      shown
    )
  }
  if (!reply.ok) return reply
  const { hash, deny_set: denySet, limited } = reply.data
  // An older agent connects from the leased address, which is not what was sold. So the order is not delivered.
  if (egress !== 'fixed' && reply.data.egress !== egress) return { kind: 'refused', reason: 'egress', message: TOO_OLD }
  // An older agent still asks for the password. Without a digest, the next repair sends the user again.
  const dropped =
    access !== 'password' && hash === userHash({ password, prefixes, denySet, allowedClientIps: clientIps })
  if (dropped) return { kind: 'applied', digest: null, reply: reply.data }
  const isEnforced = !isLimited || limited === true
  return { kind: 'applied', digest: isEnforced ? hash : `${hash}${NOT_LIMITED}`, reply: reply.data }
}

const TOO_OLD =
  'The agent is too old for IPv6 plans with rotating or sticky exit addresses. Upgrade it to continue the order.'

/** Added to the digest of a user whose agent is too old for limits, so that a newer agent gets the user again. */
export const NOT_LIMITED = '!'

/** `trial`: the result of trying new credentials before they are handed over. */
export type Answered = { user: AgentUser; outcome: Outcome; trial?: ProofTry | undefined }

/** Records what the agent answered, and moves the orders concerned on. */
export async function recordOutcomes(
  { log }: Pick<AppContext, 'log'>,
  outcomes: Answered[],
  confirm: ConfirmPort
): Promise<void> {
  const answered = outcomes.filter(({ outcome }) => outcome.kind !== 'failed')
  if (answered.length === 0) return
  for (const { user, outcome } of answered) {
    if (outcome.kind !== 'refused') continue
    log.warn({ server: user.serverId, username: user.username, reason: outcome.message }, 'agent refused a user')
  }
  // In chunks, so that the first orders do not wait for the last, and locks are held only briefly.
  const some = chunksOf(
    answered.toSorted((a, b) => (a.user.orderId ?? 0) - (b.user.orderId ?? 0)),
    CONFIRMED_TOGETHER
  )
  const limit = pLimit(CONFIRMING_AT_ONCE)
  const confirmed = await Promise.allSettled(some.map(chunk => limit(() => confirmSome(chunk, confirm))))
  const failed = confirmed.find(result => result.status === 'rejected')
  if (failed) throw failed.reason
}

/** Users that one transaction records. */
const CONFIRMED_TOGETHER = 16
/** Each chunk holds a database connection, besides the one of the server's lock. */
const CONFIRMING_AT_ONCE = 2

function chunksOf<T>(all: T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, nth) => all.slice(nth * size, (nth + 1) * size))
}

async function confirmSome(answered: Answered[], confirm: ConfirmPort): Promise<void> {
  // Ascending, so that two chunks cannot deadlock.
  const orderIds = [...new Set(answered.map(({ user }) => user.orderId))]
    .filter(id => id !== null)
    .toSorted((a, b) => a - b)
  await confirm(orderIds, async unit => {
    for (const { user, outcome } of answered) {
      const gone = await recordAnswer(unit, user, answerOf(outcome))
      await requestRevocationProofs(unit, gone, 'removed')
    }
    await recordNewCredentials(
      unit,
      answered.flatMap(({ user, trial }) => (trial ? [{ user, trial }] : []))
    )
    const taken = answered.filter(({ outcome }) => outcome.kind === 'applied')
    await confirmReplaced(
      unit,
      taken.map(({ user: { serverId, username, generation } }) => ({ serverId, username, generation }))
    )
  })
}

const answerOf = (outcome: Outcome) =>
  outcome.kind === 'refused'
    ? { refusal: outcome.message }
    : { digest: outcome.kind === 'applied' ? outcome.digest : null }
