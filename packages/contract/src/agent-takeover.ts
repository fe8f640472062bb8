/** What an agent tells of its program, and of the processes that take over from each other. */
import { z } from 'zod'

/**
 * The version of the messages that two processes of the agent speak to each other while one takes over: it rises with each change that
 * the other end would not understand, be it of the messages or of what is in them. Two of different formats do not take over.
 */
export const TAKEOVER_FORMAT = 2

/** `none`: the process has not been asked to hand over. One that succeeded is told by the process that serves now. */
export const TAKEOVER_STATES = ['none', 'running', 'failed'] as const

/** The last try to hand over to a new process. `reason` says why it failed, `at` when this state began. */
export const agentTakeover = z.object({
  state: z.enum(TAKEOVER_STATES),
  reason: z.string().max(1000).nullable(),
  at: z.iso.datetime().nullable()
})
export type AgentTakeover = z.infer<typeof agentTakeover>

/** A process of before that still has tunnels, `since` when it takes no new ones. */
export const agentDraining = z.object({
  version: z.string().max(100),
  pid: z.int().nonnegative(),
  connections: z.int().nonnegative().max(100_000_000),
  since: z.iso.datetime()
})
export type AgentDraining = z.infer<typeof agentDraining>

/** The most processes that drain at once: of more, the oldest one's tunnels are cut. */
export const MOST_DRAINING = 3

/**
 * In the reply of `GET /api/view-server-info`. `program_path` is the file that the process was started from, as the installation names
 * it; another `program_started_at` is another process. `draining`: newest first. Agents of before tell none of it, or no format: theirs
 * was 2. `settings_format`: see `agent-settings.ts`.
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
