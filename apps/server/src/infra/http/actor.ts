import type { FastifyRequest } from 'fastify'
import { clientAddress } from './client-address.ts'
import type { Caller } from './mount.ts'

/** Who does something, and from where: what the audit log writes down. */
export type Actor = { id: number; username: string; ip: string }

export const actorOf = ({ caller, request }: { caller: Caller; request: FastifyRequest }): Actor => ({
  id: caller.id,
  username: caller.username,
  ip: clientAddress(request)
})
