import { refuse, type Route } from '@netlet/contract'
import type { FastifyRequest } from 'fastify'
import { ok, type Result } from '../result.ts'

const MAX_LENGTH = 200

/** The Idempotency-Key header of a call that takes one; null where there is none, and none is required. */
export function idempotencyKeyOf(
  { idempotencyKey: takes }: Pick<Route, 'idempotencyKey'>,
  request: FastifyRequest
): Result<string | null> {
  const header = request.headers['idempotency-key']
  if (!takes || (header === undefined && takes === 'optional')) return ok(null)
  const valid = typeof header === 'string' && header.length <= MAX_LENGTH && /^[\x21-\x7e]+$/.test(header)
  return valid ? ok(header) : refuse('idempotency_key_invalid', { params: { max: MAX_LENGTH } })
}
