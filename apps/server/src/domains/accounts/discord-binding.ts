import { refuse, type Confirmation } from '@netlet/contract'
import { eq } from '../../infra/db/drizzle.ts'
import type { UserActor } from '../../infra/actor.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { done, type Result } from '../../infra/result.ts'
import { enqueueMail } from '../mail/index.ts'
import { lockUser } from './balance.ts'
import { confirmCaller, lockConfirmed } from './confirm-caller.ts'
import { USER_CONFLICTS } from './create-user.ts'
import type { DiscordAccount } from './discord-states.ts'
import type { UserRow } from './present-user.ts'
import { refuseOperator } from './operators.ts'
import { sessions, users } from './tables.ts'

/**
 * Binds a chat account to the signed-in user. The flow began with a password check, and a new password ends it
 * (`endAccess`).
 */
export function bindDiscord(ctx: AppContext, by: UserActor, { id, name }: DiscordAccount): Promise<Result<null>> {
  return command(ctx, by, { unique: USER_CONFLICTS }, async unit => {
    const { tx, now } = unit
    const [user] = await tx
      .update(users)
      .set({ discordId: id, discordName: name })
      .where(eq(users.id, by.id))
      .returning({ username: users.username, email: users.email, language: users.language })
    // A change of the password has ended the session.
    const session = by.sessionHash && eq(sessions.tokenHash, by.sessionHash)
    if (!user || !session || (await tx.$count(sessions, session)) === 0) return refuse('unauthorized')
    const at = now.toISOString()
    enqueueMail(unit, {
      to: user.email,
      language: user.language,
      template: 'chat-account-bound',
      data: { username: user.username, at, name },
      key: `chat-account-bound:${by.id}:${at}`
    })
    unit.audit('user.bind_discord', by.id, { after: { discordId: id, discordName: name } })
    unit.publish('user', by.id, by.id)
    return done
  })
}

export async function unbindDiscord(ctx: AppContext, by: UserActor, confirmation: Confirmation): Promise<Result<null>> {
  const confirmed = await confirmCaller(ctx, by, confirmation)
  if (!confirmed.ok) return confirmed
  return command(ctx, by, async unit => {
    const user = await lockConfirmed(unit, confirmed.data)
    if (!user) return refuse('unauthorized')
    return (await unbind(unit, user)) ? done : refuse('not_bound')
  })
}

/** Unbinds a user's chat account, for an administrator. */
export function unbindUserDiscord(ctx: AppContext, by: UserActor, userId: number): Promise<Result<null>> {
  return command(ctx, by, async unit => {
    const user = await lockUser(unit.tx, userId)
    if (!user) return refuse('not_found')
    const refused = refuseOperator(by, user)
    if (refused) return refused
    return (await unbind(unit, user)) ? done : refuse('not_bound')
  })
}

/** Unbinds a locked user's chat account. False if there is none. */
export async function unbind(unit: Unit, user: UserRow): Promise<boolean> {
  const { discordId, discordName } = user
  if (discordId === null) return false
  await unit.tx.update(users).set({ discordId: null, discordName: null }).where(eq(users.id, user.id))
  const at = unit.now.toISOString()
  enqueueMail(unit, {
    to: user.email,
    language: user.language,
    template: 'chat-account-unbound',
    data: { username: user.username, at, name: discordName ?? discordId },
    key: `chat-account-unbound:${user.id}:${at}`
  })
  unit.audit('user.unbind_discord', user.id, { before: { discordId, discordName } })
  unit.publish('user', user.id, user.id)
  return true
}
