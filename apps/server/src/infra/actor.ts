import type { OperatorRole, Scope } from '@netlet/contract'

/** A person who is signed in, or a program that holds one of that person's API keys. */
export type UserActor = {
  kind: 'user'
  id: number
  username: string
  isSuperuser: boolean
  /** An administrator's; null for a customer. */
  role: OperatorRole | null
  /** The client's address. */
  ip: string
  /** For whom it forwards, where `ip` is a reverse proxy that TRUST_PROXY does not name. For limits only. */
  forwardedFor?: string | null
  /** Hash of the session's token; null for an API key. */
  sessionHash: Buffer | null
  /** The administrator who views the shop as this user. */
  impersonator: { id: number; username: string } | null
  /** null: everything that the user may; otherwise what the key may. */
  scopes: readonly Scope[] | null
  /** The key that the program holds. */
  apiKey?: { id: number; name: string }
}

/** Somebody who is not signed in. */
export type VisitorActor = { kind: 'visitor' } & Pick<UserActor, 'ip' | 'forwardedFor'>

/** The program itself: jobs, webhooks, the first start. */
export type SystemActor = { kind: 'system' }

/** On whose behalf something is done: every command takes one, and the audit log names it. */
export type Actor = UserActor | VisitorActor | SystemActor

export const SYSTEM: SystemActor = { kind: 'system' }

/** Who asked for work that goes on in the background, as the tables of such work keep it. */
type Asker = { actorId: number; actorName: string; actorIp: string }

/** An administrator as the actor of what was asked for. Nobody asks while viewing the shop as a user. @param role theirs as it is now */
export const actorOf = ({ actorId, actorName, actorIp }: Asker, role: OperatorRole | null): UserActor => ({
  kind: 'user',
  id: actorId,
  username: actorName,
  isSuperuser: true,
  role,
  ip: actorIp,
  sessionHash: null,
  impersonator: null,
  scopes: null
})

/** Does an administrator act, by their own session or while viewing the shop as a user? */
export const actsAsAdmin = (by: Actor): boolean => by.kind === 'user' && (by.isSuperuser || by.impersonator !== null)
