// To which console a node agent belongs, and how a console that was restored from a backup is told from the one before.
import { z } from 'zod'

/**
 * Header of each changing call of a console: its id, and after a blank the mark that it gave the agent last. Agents that
 * belong to a console demand it of every `PUT` and `DELETE`; a `POST` (the classic verbs) may do without.
 */
export const CONSOLE_HEADER = 'netlet-console'

const word = z.string().regex(/^[A-Za-z0-9-]{1,64}$/)

/**
 * `id` and `name` of the console, `server`: by which of its servers it knows the agent. `mark`: a random word that the
 * console writes down before it tells it to the agent; each session of changes has a new one.
 */
export const agentOwner = z.object({ id: word, name: z.string().max(200), server: word, mark: word })
export type AgentOwner = z.infer<typeof agentOwner>

/**
 * Body of `PUT /api/owner`: a console wants to change something. An agent without owner belongs to it from then on. One that
 * belongs to it takes `mark` where its own is `mark` or one of `known`; otherwise the console has forgotten what it
 * told the agent (409 `olderConsole`), as after its database was restored. One that belongs to another console refuses (409
 * `foreignConsole`) unless `take_over_from` names that one; it then gets a mark that no console knows, so that whoever took
 * it over is asked to look at what it holds first.
 */
export const agentClaim = agentOwner.extend({
  known: z.array(word).max(4).default([]),
  take_over_from: word.optional()
})
export type AgentClaim = z.input<typeof agentClaim>

/** Reply of `PUT /api/owner`. */
export const agentClaimReply = z.object({ owner: agentOwner })
