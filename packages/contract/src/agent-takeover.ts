/** An agent's report about its program and about handovers between its processes. */
import { z } from 'zod'

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
