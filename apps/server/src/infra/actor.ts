import { type OperatorRole, type Permission, type Scope, mayOperate } from '@netlet/contract'

/** A signed-in person, or a program that uses one of that person's API keys. */
export type UserActor = {
  kind: 'user'
  id: number
  username: string
  isSuperuser: boolean
  /** The role of an administrator; null for a customer. */
  role: OperatorRole | null
  /** An operator who may do nothing but add a second factor. */
  mustEnrol?: boolean
  /** The client's address. */
  ip: string
  /** The client behind a reverse proxy (`ip`) that TRUST_PROXY does not name. For limits only. */
  forwardedFor?: string | null
  /** Hash of the session's token; null for an API key. */
  sessionHash: Buffer | null
  /** The administrator who views the shop as this user. */
  impersonator: { id: number; username: string } | null
  /** What a customer's API key allows; null: the actor uses none. */
  scopes: readonly Scope[] | null
  /** What an operator's API token allows of that which the role allows. */
  permissions?: readonly Permission[]
  /** The API key of the program. */
  apiKey?: { id: number; name: string }
}

/** A person who is not signed in. */
export type VisitorActor = { kind: 'visitor' } & Pick<UserActor, 'ip' | 'forwardedFor'>

/** The program itself: jobs, webhooks, the first start. */
export type SystemActor = { kind: 'system' }

/** On whose behalf a command runs. The audit log names the actor. */
export type Actor = UserActor | VisitorActor | SystemActor

export const SYSTEM: SystemActor = { kind: 'system' }

/** Who requested background work, as its table stores them. */
type Asker = { actorId: number; actorName: string; actorIp: string }

/**
 * The administrator who requested background work, as an actor. Viewing the shop as a user allows no such request.
 * @param role the administrator's current role
 */
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

/** Does the actor's role allow this, and the API token that the actor uses? */
export const mayDo = (
  { role, permissions }: Pick<UserActor, 'role' | 'permissions'>,
  permission: Permission
): boolean => mayOperate(role, permission) && (permissions === undefined || permissions.includes(permission))

/** Is the actor an administrator, in their own session or while viewing the shop as a user? */
export const actsAsAdmin = (by: Actor): boolean => by.kind === 'user' && (by.isSuperuser || by.impersonator !== null)
