import { insertSession } from '../domains/accounts/index.ts'
import { SYSTEM, type UserActor } from '../infra/actor.ts'
import { command } from '../infra/command.ts'
import type { AppContext } from '../infra/context.ts'

export const addSession = (ctx: AppContext, userId: number): Promise<string> =>
  command(ctx, SYSTEM, unit => insertSession(unit, { userId, ip: '127.0.0.1', userAgent: 'test' }))

export const userActor = (id: number, more: Partial<UserActor> = {}): UserActor => ({
  kind: 'user',
  id,
  username: `user${id}`,
  isSuperuser: false,
  role: more.isSuperuser ? 'owner' : null,
  ip: '127.0.0.1',
  sessionHash: null,
  impersonator: null,
  scopes: null,
  ...more
})
