/** What an agent tells of the moment: what is wrong, signs of abuse, open connections, and its log as it is written. */
import { z } from 'zod'
import { ABUSE_KINDS } from './abuse.ts'

/** What an agent finds wrong with itself. Newer agents may know more. */
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

/** What a database takes, whoever says it. */
const userName = z.string().regex(/^[A-Za-z0-9._@-]{1,64}$/)
const recent = z.iso.datetime().regex(/^20/)
const line = (most: number) =>
  z
    .string()
    .max(most)
    .regex(/^[^\p{Cc}\p{Cs}]*$/u)

/** A sign of abuse that goes on, or ended within the last hour. `count`: of its worst minute. */
export const agentAlarm = z.object({
  kind: z.enum(ABUSE_KINDS),
  user: userName,
  /** The target, or for `guessing` the client, that was seen last. */
  subject: line(400),
  count: z.int().nonnegative(),
  since: recent,
  last: recent
})
export type AgentAlarm = z.infer<typeof agentAlarm>

/** Reply of `GET /api/alarms`, newest first. */
export const agentAlarms = z.object({ alarms: z.array(agentAlarm).max(200) })
export type AgentAlarms = z.infer<typeof agentAlarms>

/** Whole numbers that are figures of a screen. */
const figure = z.int().nonnegative()

/** Of a user with open connections. Bytes are those of the open ones; `since` is when the oldest was opened. */
export const agentLiveUser = z.object({
  user: z.string().max(64),
  count: figure,
  up: figure,
  down: figure,
  since: z.iso.datetime()
})
/** An open connection of a user. `target` is '-' before it asks for one. */
export const agentLiveConnection = z.object({
  id: z.string().max(40),
  client: z.string().max(64),
  ip: z.string().max(64),
  target: z.string().max(400),
  up: figure,
  down: figure,
  since: z.iso.datetime()
})

/** The most rows of one reply, whatever is asked for. */
export const MOST_LIVE_ROWS = 200

/**
 * Reply of `GET /api/connections`: the users with the most connections, or with `user` the oldest connections of that one.
 * `total` counts all connections (of the user). `refusals` are those since `refusals_since`, by reason.
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
 * Reply of `GET /api/log/follow`: lines of the access log after `after` (0: the newest) that match. `next` is the next
 * `after`; `missed` says how many lines came and went between two calls without being looked at.
 */
export const agentLogLines = z.object({
  lines: z.array(z.string().max(2000)).max(MOST_LIVE_ROWS),
  next: figure,
  missed: figure
})
export type AgentLogLines = z.infer<typeof agentLogLines>
