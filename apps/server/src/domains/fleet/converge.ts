import { and, asc, eq, isNotNull, isNull, sql } from 'drizzle-orm'
import type { AgentClient } from '../../integrations/agent/index.ts'
import type { Shop } from '../../platform/shop.ts'
import { deniedDomains } from '../inventory/index.ts'
import { agentOf, noteAnswer, noteSilence, noteTrouble, type ServerRow } from './agents.ts'
import { applyUser, noteOutcomes, type AgentUser, type OnConfirmed, type Outcome } from './apply.ts'
import { withServerLock } from './lock.ts'
import { loadPrefixes, type Loaded } from './prefixes.ts'
import { convergeQueue } from './queues.ts'
import { agentUsers, servers } from './tables.ts'

type Following = Pick<Shop, 'db' | 'jobs' | 'secrets' | 'now' | 'log'>

const BATCH = 64
const AT_ONCE = 8

/** The agent did not answer; the job is tried again. */
export class AgentUnreachable extends Error {
  override name = 'AgentUnreachable'
}

/**
 * Brings one server's agent to what is wanted of it: its ranges first, then users put and deleted. Only one process
 * does this for a server at a time, so that an older state never overtakes a newer one on the wire.
 * @throws AgentUnreachable where the agent is away
 */
export async function convergeServer(shop: Following, serverId: number, onConfirmed: OnConfirmed): Promise<void> {
  const ran = await withServerLock(
    shop.db,
    serverId,
    async () => {
      const [server] = await shop.db
        .select()
        .from(servers)
        .where(and(eq(servers.id, serverId), isNull(servers.deletedAt)))
      if (server) await follow(shop, server, { onConfirmed })
    },
    { waitMs: 1000 }
  )
  // Someone else is at it, and may have looked for the last time before our change was there: look again soon.
  if (!ran) {
    const startAfter = new Date(shop.now().getTime() + 1000)
    await shop.jobs.send(shop.db, convergeQueue, { serverId }, { key: String(serverId), startAfter })
  }
}

/** What the agent answered while it followed. */
export type Followed = { prefixes: Loaded | null; users: Map<string, Outcome> }

/**
 * Lets the agent follow what is wanted. The caller holds the server's lock.
 * @param byHandOnly leaves the orders' users to the job that tells their orders
 * @throws AgentUnreachable where the agent is away
 */
export async function follow(
  shop: Following,
  server: ServerRow,
  { onConfirmed, byHandOnly = false }: { onConfirmed: OnConfirmed; byHandOnly?: boolean }
): Promise<Followed> {
  const agent = agentOf(server, shop.secrets)
  try {
    const behind = server.prefixesGeneration !== server.prefixesApplied
    // Before the ranges are noted as loaded: whoever dies in between does it again.
    if (behind) await forgetRefusals(shop, server.id)
    let loaded = behind ? await load(shop, agent, server) : null
    const followed: Followed = { prefixes: loaded, users: new Map() }
    // Users of ranges that the agent does not have would only be refused.
    if (loaded?.kind === 'refused') return followed
    for (;;) {
      const users = await usersBehind(shop, server.id, byHandOnly)
      if (users.length === 0) break
      const outcomes = await applyAll(shop, agent, users)
      // Its ranges were in step, yet it does not know them: its state was lost.
      const lost = loaded === null && outcomes.some(({ outcome }) => isOutside(outcome))
      if (lost) loaded = await load(shop, agent, server)
      const settled = lost ? outcomes.filter(({ outcome }) => !isOutside(outcome)) : outcomes
      await noteOutcomes(shop, settled, onConfirmed)
      for (const { user, outcome } of settled) followed.users.set(user.username, outcome)
      const silent = outcomes.find(({ outcome }) => outcome.kind === 'unreachable')?.outcome
      if (silent?.kind === 'unreachable') throw new AgentUnreachable(silent.message)
    }
    if (loaded?.kind === 'widened') followed.prefixes = await narrow(shop, agent, server)
    await noteAnswer(shop.db, server.id, shop.now())
    return followed
  } catch (error) {
    if (error instanceof AgentUnreachable) {
      await noteSilence(shop.db, server.id, error.message, shop.now(), { counts: false })
    }
    throw error
  }
}

/** What the agent refused for lack of a range deserves another try. */
async function forgetRefusals(shop: Following, serverId: number): Promise<void> {
  const refused = and(eq(agentUsers.serverId, serverId), isNotNull(agentUsers.refusal))
  await shop.db.update(agentUsers).set({ refusal: null }).where(refused)
}

const isOutside = (outcome: Outcome) => outcome.kind === 'refused' && outcome.reason === 'outsidePrefixes'

async function load(shop: Following, agent: AgentClient, server: ServerRow): Promise<Loaded> {
  const loaded = await loadPrefixes(shop, agent, server)
  if (loaded.kind === 'unreachable') throw new AgentUnreachable(loaded.message)
  if (loaded.kind === 'refused') await noteTrouble(shop.db, server.id, loaded.message)
  return loaded
}

/** Once the users of the old ranges are gone, those ranges go too. */
async function narrow(shop: Following, agent: AgentClient, server: ServerRow): Promise<Loaded> {
  const loaded = await load(shop, agent, server)
  if (loaded.kind === 'widened') {
    await noteTrouble(shop.db, server.id, 'A range that was taken off waits: users on the agent still lease of it')
  }
  return loaded
}

async function usersBehind(shop: Following, serverId: number, byHandOnly: boolean): Promise<AgentUser[]> {
  return shop.db
    .select()
    .from(agentUsers)
    .where(
      and(
        eq(agentUsers.serverId, serverId),
        sql`${agentUsers.generation} <> ${agentUsers.appliedGeneration}`,
        isNull(agentUsers.refusal),
        byHandOnly ? isNull(agentUsers.orderId) : undefined
      )
    )
    .orderBy(asc(agentUsers.generation))
    .limit(BATCH)
}

async function applyAll(shop: Following, agent: AgentClient, users: AgentUser[]) {
  // Read after the users: a rule edited since then has given them another generation, and they come again.
  const deniedBy = new Map<string, string[]>()
  for (const user of users) {
    const key = user.rules.join()
    if (user.wanted && !deniedBy.has(key)) deniedBy.set(key, await deniedDomains(shop.db, { bought: user.rules }))
  }
  const outcomes: { user: AgentUser; outcome: Outcome }[] = []
  for (let at = 0; at < users.length; at += AT_ONCE) {
    const some = users.slice(at, at + AT_ONCE).map(async user => {
      return { user, outcome: await applyUser(agent, user, deniedBy.get(user.rules.join()) ?? []) }
    })
    const told = await Promise.all(some)
    outcomes.push(...told)
    if (told.some(({ outcome }) => outcome.kind === 'unreachable')) break
  }
  return outcomes
}
