import { type AgentOwner, type AgentReason, agentTexts } from '@netlet/contract/agent'
import type { FastifyReply } from 'fastify'

const statusOf: Record<AgentReason, number> = {
  badUser: 400,
  badPrefix: 400,
  badBody: 400,
  badPassword: 400,
  badDomain: 400,
  badClientIp: 400,
  badCount: 400,
  noClientIps: 400,
  wideClientIp: 400,
  tooManyClientIps: 400,
  egressNeedsIpv6: 400,
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
  takingOver: 503,
  proxyTlsByEnvironment: 409,
  proxyTlsNoPair: 409,
  foreignConsole: 409,
  olderConsole: 409,
  internal: 500
}

/** Sends a refusal: HTTP status, stable reason, and a sentence followed by the offending value. */
export function sendRefusal(
  reply: FastifyReply,
  refusal: { reason: AgentReason; detail?: string; owner?: AgentOwner }
): FastifyReply {
  const status = statusOf[refusal.reason]
  const text = agentTexts[refusal.reason]
  const msg = refusal.detail === undefined ? text : `${text} (${refusal.detail})`
  const { reason, owner } = refusal
  if (reason === 'takingOver') void reply.header('retry-after', '1').header('connection', 'close')
  return reply.code(status).send({ status, reason, msg, ...(owner === undefined ? {} : { owner }) })
}
