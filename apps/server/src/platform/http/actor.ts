import type { FastifyRequest } from 'fastify'
import type { Caller } from './mount.ts'

/** Who does something, and from where: what the audit log writes down. */
export type Actor = { id: number; username: string; ip: string }

export const actorOf = ({ caller, request }: { caller: Caller; request: FastifyRequest }): Actor => ({
  id: caller.id,
  username: caller.username,
  // A dual-stack listener names IPv4 clients in IPv6's words.
  ip: request.ip.replace(/^::ffff:(?=\d+\.)/i, '')
})
