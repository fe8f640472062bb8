// Which console owns a node agent, and how an agent detects a console restored from a backup.
import { z } from 'zod'

/**
 * Header of a console's changing calls: its id, a space, and the agent's latest mark. An owned agent requires it for
 * `PUT` and `DELETE`, but not for `POST` (the classic verbs).
 */
export const CONSOLE_HEADER = 'netlet-console'

const word = z.string().regex(/^[A-Za-z0-9-]{1,64}$/)

/**
 * The console's `id` and `name`; `server` is its id for the agent; `mark` is a random word that the console stores
 * before it sends it. Each session of changes has a new one.
 */
export const agentOwner = z.object({ id: word, name: z.string().max(200), server: word, mark: word })
export type AgentOwner = z.infer<typeof agentOwner>

/**
 * Body of `PUT /api/owner`, by which a console claims the agent before changes. An agent without owner accepts. The owner
 * is accepted if the agent's mark is `mark` or one of `known`; the agent then keeps `mark`. Otherwise the console's
 * database is older than the agent, as after a restore (409 `olderConsole`). Another console gets 409 `foreignConsole`
 * unless `take_over_from` names the owner. The agent then gets a mark that no console knows, so that the new owner must
 * first review what it holds.
 */
export const agentClaim = agentOwner.extend({
  known: z.array(word).max(4).default([]),
  take_over_from: word.optional()
})
export type AgentClaim = z.input<typeof agentClaim>

/** Reply of `PUT /api/owner`. */
export const agentClaimReply = z.object({ owner: agentOwner })
