import { type AgentReason, agentTexts } from '@netlet/contract/agent'
import type { FastifyReply } from 'fastify'

const statusOf: Record<AgentReason, number> = {
  badUser: 400,
  badPrefix: 400,
  badBody: 400,
  badPassword: 400,
  badDomain: 400,
  badClientIp: 400,
  badCount: 400,
  outsidePrefixes: 400,
  prefixInUse: 409,
  tooManyAddresses: 400,
  noFreeAddresses: 409,
  unknownUser: 404,
  userExists: 409,
  unknownDenySet: 409,
  badToken: 401,
  unknownPath: 404,
  tooLarge: 413,
  notDurable: 503,
  notServing: 503,
  internal: 500
}

/** Sends a refusal: its status, its stable reason, and its sentence with the offending value behind it. */
export function sendRefusal(reply: FastifyReply, refusal: { reason: AgentReason; detail?: string }): FastifyReply {
  const status = statusOf[refusal.reason]
  const text = agentTexts[refusal.reason]
  const msg = refusal.detail === undefined ? text : `${text} (${refusal.detail})`
  return reply.code(status).send({ status, reason: refusal.reason, msg })
}
