import type { InjectOptions, LightMyRequestResponse } from 'fastify'
import { SESSION_COOKIE } from '../domains/accounts/index.ts'
import { addSession } from '../testing/session.ts'
import { describeCalls, type ApiCall } from './calls.ts'
import { exampleOf } from './schemas.ts'
import type { Buyer, StockedShop } from './stocked-shop.fixture.ts'

export const { calls, components } = describeCalls()

export const nameOf = ({ method, path }: ApiCall): string => `${method} ${path}`

/**
 * Makes a call in a new session, with the example of its body where none is given.
 * @param by null: a visitor
 */
export async function send(
  { app, ctx }: StockedShop,
  call: ApiCall,
  by: Buyer | null,
  { path = call.path, body }: { path?: string; body?: unknown } = {}
): Promise<LightMyRequestResponse> {
  const request: InjectOptions = {
    method: call.method,
    url: path.replace(':id', '1').replace(':key', 'columns'),
    headers: {
      ...(by ? { cookie: `${SESSION_COOKIE}=${await addSession(ctx, by.user.id)}` } : {}),
      ...(call.idempotencyKey ? { 'idempotency-key': 'the same' } : {}),
      ...(call.body ? { 'content-type': 'application/json' } : {})
    },
    ...(call.body ? { payload: JSON.stringify(body ?? exampleOf(call.body, components)) } : {})
  }
  return app.inject(request)
}
