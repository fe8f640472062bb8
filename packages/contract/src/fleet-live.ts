/** What a server's agent is doing now, and the signs of abuse that agents reported. */
import { z } from 'zod'
import { ABUSE_KINDS, agentConnections, agentEnded, agentLogLines } from './agent-live.ts'
import { message } from './form-messages.ts'
import { route } from './route.ts'
import { Id, IdParams, queryInt, Time } from './shapes.ts'

const SERVER = '/api/servers/servers/:id'
const shortText = z
  .string()
  .trim()
  .max(100, message('at_most_characters', { max: 100 }))
const textFilter = shortText.optional().transform(value => value || undefined)

/** With the order of each user that has one. */
export const LiveConnections = agentConnections.extend({ orders: z.record(z.string(), z.number()) })
export type LiveConnections = z.infer<typeof LiveConnections>

export const AbuseAlarm = z.object({
  id: z.number(),
  kind: z.enum(ABUSE_KINDS),
  server_id: z.number(),
  server: z.string(),
  username: z.string(),
  /** Null: a user without an order. */
  order_id: z.number().nullable(),
  /** The last target; for guessed passwords, the last client. */
  subject: z.string(),
  /** In the worst minute. */
  count: z.number(),
  started_at: Time,
  last_at: Time,
  acknowledged_at: Time.nullable(),
  acknowledged_by: z.string().nullable()
})
export type AbuseAlarm = z.infer<typeof AbuseAlarm>

export const fleetLive = {
  live: route('GET', `${SERVER}/live/`, {
    summary: "A server's open connections by user, or those of one user, and today's refusals by reason",
    access: 'admin',
    permission: 'addresses.view',
    params: IdParams,
    query: z.object({ user: textFilter }),
    reply: LiveConnections
  }),
  endConnections: route('POST', `${SERVER}/end_connections/`, {
    summary: 'End the open connections of a proxy user on a server, or one of them',
    access: 'admin',
    permission: 'servers.change',
    params: IdParams,
    body: z.object({ user: shortText.min(1, message('must_select')), connection: z.string().max(40).optional() }),
    reply: agentEnded
  }),
  followLog: route('GET', `${SERVER}/follow_log/`, {
    summary: "The newest matching lines of a server's access log, after a line number",
    access: 'admin',
    permission: 'addresses.view',
    params: IdParams,
    query: z.object({
      after_line: queryInt(0, Number.MAX_SAFE_INTEGER, message('must_be_id')).default(0),
      user: textFilter,
      address: textFilter,
      http_status: z
        .string()
        .regex(/^\d{0,3}$/)
        .optional()
        .transform(value => value || undefined)
    }),
    reply: agentLogLines
  }),
  alarms: route('GET', '/api/servers/alarms/', {
    summary: 'The newest 100 signs of abuse: unacknowledged ones, or all of a server or an order',
    access: 'admin',
    permission: 'addresses.view',
    query: z.object({ server_id: Id.optional(), order_id: Id.optional() }),
    reply: z.object({ alarms: z.array(AbuseAlarm) })
  }),
  acknowledgeAlarm: route('POST', '/api/servers/alarms/:id/acknowledge/', {
    summary: 'Acknowledge a sign of abuse. It reappears if it happens again',
    access: 'admin',
    permission: 'servers.change',
    params: IdParams,
    body: z.object({}).optional(),
    reply: AbuseAlarm
  })
}
