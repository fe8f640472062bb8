/** An agent's report about its program and about handovers between its processes. */
import { z } from 'zod'

// Which console owns a node agent, and how an agent detects a console restored from a backup.

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

/** Problems of a server's agent, found by itself or the console: codes with English sentences. */
export const agentProblems = {
  worker_missing: 'Not all workers serve',
  disk_not_writable: 'The disk cannot be written',
  handles_low: 'File handles run short',
  loop_slow: 'The agent is overloaded: tunnels wait for it',
  routes_missing: 'Some ranges are not routed to the server',
  dns_failing: 'Name servers do not answer',
  certificate_unreadable: 'The certificate for proxy clients cannot be read',
  clock_off: "The server's clock is off by more than a minute"
} as const
export type ServerProblem = keyof typeof agentProblems

/**
 * The version of the messages between two agent processes during a handover. It rises with every incompatible change of
 * the messages or their contents. Processes with different formats do not hand over.
 */
export const TAKEOVER_FORMAT = 2

/** `none`: no handover was requested. After a success, the new process reports. */
export const TAKEOVER_STATES = ['none', 'running', 'failed'] as const

/** The last attempt to hand over to a new process. `reason`: why it failed. `at`: when this state began. */
export const agentTakeover = z.object({
  state: z.enum(TAKEOVER_STATES),
  reason: z.string().max(1000).nullable(),
  at: z.iso.datetime().nullable()
})
export type AgentTakeover = z.infer<typeof agentTakeover>

/** An earlier process that still has tunnels. `since`: when it stopped accepting new ones. */
export const agentDraining = z.object({
  version: z.string().max(100),
  pid: z.int().nonnegative(),
  connections: z.int().nonnegative().max(100_000_000),
  since: z.iso.datetime()
})
export type AgentDraining = z.infer<typeof agentDraining>

/** Largest number of draining processes. If there are more, the oldest one's tunnels are cut. */
export const MOST_DRAINING = 3

/**
 * In the reply of `GET /api/view-server-info`. `program_path`: the file of the process, as the installation names it. A
 * new `program_started_at` means a new process. `draining`: newest first. Older agents send none of this, or no format,
 * which then is 2. `settings_format`: see `agent-settings.ts`.
 */
export const agentProgram = z.object({
  program_version: z.string().max(100),
  program_path: z.string().max(4096),
  program_started_at: z.iso.datetime(),
  draining: z.array(agentDraining).max(100),
  takeover: agentTakeover,
  takeover_format: z.int().nonnegative(),
  settings_format: z.int().nonnegative()
})
export type AgentProgram = z.infer<typeof agentProgram>
