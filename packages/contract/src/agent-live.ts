/** Live data from an agent: problems, abuse, open connections, and its log. */
import { z } from 'zod'

/** Kinds of abuse, without schemas, so that screens can import them without the validation library. */

/**
 * `scan`: many targets that refuse or do not answer. `flood`: very many connections to one target. `mail`: attempts on
 * closed ports. `guessing`: many wrong passwords for a user.
 */
export const ABUSE_KINDS = ['scan', 'flood', 'mail', 'guessing'] as const
export type AbuseKind = (typeof ABUSE_KINDS)[number]

/** Problems that an agent reports. Newer agents may report others. */
export const AGENT_PROBLEMS = [
  'worker_missing',
  'disk_not_writable',
  'handles_low',
  'loop_slow',
  'routes_missing',
  'dns_failing',
  'certificate_unreadable'
] as const
export type AgentProblem = (typeof AGENT_PROBLEMS)[number]

/** Formats that the database accepts, whatever an agent sends. */
const userName = z.string().regex(/^[A-Za-z0-9._@-]{1,64}$/)
const recent = z.iso.datetime().regex(/^20/)
const line = (most: number) =>
  z
    .string()
    .max(most)
    .regex(/^[^\p{Cc}\p{Cs}]*$/u)

/** Abuse that continues or ended within the last hour. `count` is from its worst minute. */
export const agentAlarm = z.object({
  kind: z.enum(ABUSE_KINDS),
  user: userName,
  /** The last target; for `guessing`, the last client. */
  subject: line(400),
  count: z.int().nonnegative(),
  since: recent,
  last: recent
})
export type AgentAlarm = z.infer<typeof agentAlarm>

/** Reply of `GET /api/alarms`, newest first. */
export const agentAlarms = z.object({ alarms: z.array(agentAlarm).max(200) })
export type AgentAlarms = z.infer<typeof agentAlarms>

const figure = z.int().nonnegative()

/** A user with open connections. Bytes are of the open ones; `since` is when the oldest was opened. */
export const agentLiveUser = z.object({
  user: z.string().max(64),
  count: figure,
  up: figure,
  down: figure,
  since: z.iso.datetime()
})
/** An open connection. `target` is '-' until it requests one. */
export const agentLiveConnection = z.object({
  id: z.string().max(40),
  client: z.string().max(64),
  ip: z.string().max(64),
  target: z.string().max(400),
  up: figure,
  down: figure,
  since: z.iso.datetime()
})

/** Largest number of rows in a reply, even if more are requested. */
export const MOST_LIVE_ROWS = 200

/**
 * Reply of `GET /api/connections`: the users with the most connections, or with `user` that user's oldest connections.
 * `total` counts all (of the user). `refusals` counts by reason since `refusals_since`.
 */
export const agentConnections = z.object({
  total: figure,
  users: z.array(agentLiveUser).max(MOST_LIVE_ROWS),
  connections: z.array(agentLiveConnection).max(MOST_LIVE_ROWS),
  refusals: z.record(z.string().max(40), figure),
  refusals_since: z.iso.datetime()
})
export type AgentConnections = z.infer<typeof agentConnections>

/** Reply of `DELETE /api/connections`: how many were ended. */
export const agentEnded = z.object({ ended: figure })
export type AgentEnded = z.infer<typeof agentEnded>

/**
 * Reply of `GET /api/log/follow`: matching lines of the access log after `after` (0: the newest). `next` is the next
 * `after`; `missed` counts lines that were overwritten between two calls.
 */
export const agentLogLines = z.object({
  lines: z.array(z.string().max(2000)).max(MOST_LIVE_ROWS),
  next: figure,
  missed: figure
})
export type AgentLogLines = z.infer<typeof agentLogLines>
