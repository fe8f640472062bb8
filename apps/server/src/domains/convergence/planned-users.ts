import { type AgentUserLimits, denySetHash, userHash } from '@netlet/contract/agent'
import { deniedDomains, type DenyLists } from '../inventory/index.ts'
import { type AgentUser, grantLimits, type SyncContext } from '../servers/index.ts'

export type PlannedUser = { user: AgentUser; denied: DenyLists; limits: AgentUserLimits | undefined }

const NOTHING_DENIED: DenyLists = { denied: [], allowed: [] }

/** Users of one server with all that their agent gets. */
export async function planUsers(ctx: SyncContext, users: AgentUser[]): Promise<PlannedUser[]> {
  // Read after the users: an edit of a rule in between gives them a new generation, so they come again.
  const deniedBy = new Map<string, DenyLists>()
  for (const user of users) {
    const key = user.rules.join()
    if (user.wanted && !deniedBy.has(key)) deniedBy.set(key, await deniedDomains(ctx.db, { bought: user.rules }))
  }
  const limits = await grantLimits(ctx, users)
  return users.map(user => ({
    user,
    denied: deniedBy.get(user.rules.join()) ?? NOTHING_DENIED,
    limits: limits.get(user.username)
  }))
}

/** What the agent would report of the user after it was sent. */
export const hashOf = ({ user, denied, limits }: PlannedUser): string =>
  userHash({
    password: user.password,
    prefixes: user.prefixes,
    denySet: denySetHash(denied.denied, denied.allowed),
    allowedClientIps: user.clientIps,
    access: user.access,
    limits,
    egress: user.egress
  })
