import {
  mayOperate,
  refuse,
  TOKEN_PERMISSIONS,
  type ApiKey,
  type ApiTokenForm,
  type Confirmation,
  type Scope,
  type TokenPermission,
  type UserApiKey
} from '@netlet/contract'
import { and, desc, eq, gt, inArray, isNull, lte, sql } from '../../infra/db/drizzle.ts'
import { SYSTEM, type UserActor } from '../../infra/actor.ts'
import { DAY, iso, isoOrNull } from '../../infra/clock.ts'
import { command, type Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { fieldRefusal } from '../../infra/refusals.ts'
import { done, ok, type Result } from '../../infra/result.ts'
import { hashToken, randomToken } from '../../infra/secrets.ts'
import type { AppContext } from '../../infra/context.ts'
import { enqueueMail } from '../mail/index.ts'
import { lockUser } from './balance.ts'
import { confirmCaller, lockConfirmed } from './confirm-caller.ts'
import { KEY_PREFIXES } from './authenticate.ts'
import type { UserRow } from './present-user.ts'
import { apiKeys, sessions, users } from './tables.ts'

const MAX_KEYS = 20
const MOST_SHOWN = 100
/** Each new key causes a mail and a row, so creating and revoking in a loop must end. Enough to replace all keys. */
const MAX_MADE_A_DAY = 40

const kept = (userId: number) => and(eq(apiKeys.userId, userId), isNull(apiKeys.revokedAt))

/** A user's API keys and tokens, newest first, without the keys themselves. Expired ones stay until they are revoked. */
export async function listApiKeys(db: Executor, userId: number): Promise<ApiKey[]> {
  const rows = await db.select().from(apiKeys).where(kept(userId)).orderBy(desc(apiKeys.id))
  return rows.map(present)
}

/** The same with ended keys, for an administrator. */
export async function listUserApiKeys(db: Executor, userId: number): Promise<UserApiKey[]> {
  const rows = await db
    .select()
    .from(apiKeys)
    .where(eq(apiKeys.userId, userId))
    .orderBy(desc(apiKeys.id))
    .limit(MOST_SHOWN)
  return rows.map(row => ({ ...present(row), revoked_at: isoOrNull(row.revokedAt) }))
}

type Made = Result<ApiKey & { key: string }>

/** Creates an API key for a confirmed caller. Only this reply contains the key; we store its hash. */
export async function createApiKey(
  ctx: AppContext,
  by: UserActor,
  {
    name,
    scopes,
    days,
    ...confirmation
  }: Confirmation & { name: string; scopes: Scope[]; days?: number | null | undefined }
): Promise<Made> {
  const confirmed = await confirmCaller(ctx, by, confirmation)
  if (!confirmed.ok) return confirmed
  return command(ctx, by, async unit => {
    // Serializes a user's concurrent calls, so that the limit holds, and excludes a change of the password.
    const user = await lockConfirmed(unit, confirmed.data)
    if (!user) return refuse('unauthorized')
    return insertKey(unit, user, { name, days: days ?? null, scopes: [...new Set(scopes)], permissions: null })
  })
}

/** Creates an operator's API token with some of the caller's permissions. The session has confirmed itself lately. */
export async function createApiToken(
  ctx: AppContext,
  by: UserActor,
  { name, permissions, days }: ApiTokenForm
): Promise<Made> {
  const { sessionHash } = by
  if (!sessionHash) return refuse('key_not_allowed')
  const made = await command(ctx, by, async (unit): Promise<Made> => {
    const user = await lockUser(unit.tx, by.id)
    // A new password or role has ended the session under this lock.
    if (!user?.isSuperuser || (await unit.tx.$count(sessions, eq(sessions.tokenHash, sessionHash))) === 0)
      return refuse('unauthorized')
    if (permissions.some(permission => !mayOperate(user.operatorRole, permission)))
      return fieldRefusal('permissions', 'role_not_allowed')
    return insertKey(unit, user, { name, days, scopes: [], permissions: [...new Set(permissions)] })
  })
  if (made.ok) logSecurity(ctx, by, 'make_token', made.data.id)
  return made
}

type NewKey = { name: string; days: number | null; scopes: Scope[]; permissions: TokenPermission[] | null }

async function insertKey(unit: Unit, user: UserRow, { days, ...form }: NewKey): Promise<Made> {
  const { tx, now } = unit
  const userId = user.id
  if ((await tx.$count(apiKeys, kept(userId))) >= MAX_KEYS)
    return refuse('too_many_kept', { params: { max: MAX_KEYS } })
  const ofToday = and(eq(apiKeys.userId, userId), gt(apiKeys.createdAt, new Date(now.getTime() - DAY)))
  if ((await tx.$count(apiKeys, ofToday)) >= MAX_MADE_A_DAY)
    return refuse('made_in_a_day', { params: { max: MAX_MADE_A_DAY } })
  const prefix = form.permissions ? KEY_PREFIXES.token : KEY_PREFIXES.key
  const key = `${prefix}${randomToken()}`
  const [made] = await tx
    .insert(apiKeys)
    .values({
      ...form,
      userId,
      keyHash: hashToken(key),
      hint: key.slice(0, prefix.length + 4),
      createdAt: now,
      expiresAt: days === null ? null : new Date(now.getTime() + days * DAY)
    })
    .returning()
  if (!made) throw new Error('the key was not stored')
  unit.audit(form.permissions ? 'api_key.make_token' : 'api_key.create', made.id, { after: presented(made) })
  enqueueMail(unit, {
    to: user.email,
    language: user.language,
    template: 'api-key-made',
    data: {
      username: user.username,
      at: now.toISOString(),
      name: form.name,
      scopes: (form.permissions ?? form.scopes).join(', '),
      expires: isoOrNull(made.expiresAt)
    },
    key: `api-key-made:${made.id}`
  })
  unit.publish('api_key', made.id, userId)
  return ok({ ...present(made), key })
}

export async function revokeApiKey(ctx: AppContext, by: UserActor, keyId: number): Promise<Result<null>> {
  const revoked = await command(ctx, by, async (unit): Promise<Result<KeyRow>> => {
    const { tx, now } = unit
    const [before] = await tx
      .update(apiKeys)
      .set({ revokedAt: now })
      .where(and(eq(apiKeys.id, keyId), kept(by.id)))
      .returning()
    if (!before) return refuse('not_found')
    unit.audit(before.permissions ? 'api_key.revoke_token' : 'api_key.revoke', keyId, { before: presented(before) })
    unit.publish('api_key', keyId, by.id)
    return ok(before)
  })
  if (!revoked.ok) return revoked
  if (revoked.data.permissions) logSecurity(ctx, by, 'revoke_token', keyId)
  return done
}

/** Days before its end in which the owner of a key is warned, unless the key was valid for no longer. */
const WARNED_BEFORE = 7
const BATCH = 500

/** Mails the owners of keys that end within a week, once for each key. */
export async function warnOfEndingKeys(ctx: AppContext): Promise<void> {
  for (let warned = BATCH; warned === BATCH;)
    warned = await command(ctx, SYSTEM, async unit => {
      const { tx, now } = unit
      const soon = new Date(now.getTime() + WARNED_BEFORE * DAY)
      const due = tx
        .select({ id: apiKeys.id })
        .from(apiKeys)
        .where(
          and(
            gt(apiKeys.expiresAt, now),
            lte(apiKeys.expiresAt, soon),
            isNull(apiKeys.revokedAt),
            isNull(apiKeys.warnedAt),
            sql`${apiKeys.expiresAt} > ${apiKeys.createdAt} + ${`${WARNED_BEFORE} days`}::interval`
          )
        )
        .orderBy(apiKeys.id)
        .limit(BATCH)
        .for('update')
      const keys = await tx.update(apiKeys).set({ warnedAt: now }).where(inArray(apiKeys.id, due)).returning()
      const owners = await tx
        .select({ id: users.id, username: users.username, email: users.email, language: users.language })
        .from(users)
        .where(
          and(
            inArray(
              users.id,
              keys.map(({ userId }) => userId)
            ),
            eq(users.isActive, true)
          )
        )
      for (const { id, userId, name, expiresAt } of keys) {
        const owner = owners.find(one => one.id === userId)
        if (!owner || !expiresAt) continue
        enqueueMail(unit, {
          to: owner.email,
          language: owner.language,
          template: 'api-key-ends',
          data: { username: owner.username, at: iso(expiresAt), name },
          key: `api-key-ends:${id}`
        })
      }
      return keys.length
    })
}

type KeyRow = typeof apiKeys.$inferSelect

/** A key as the audit log shows it. */
const presented = ({ name, scopes, permissions, expiresAt }: KeyRow) => ({
  name,
  ...(permissions ? { permissions } : { scopes }),
  ...(expiresAt && { expires_at: iso(expiresAt) })
})

const logSecurity = (ctx: AppContext, by: UserActor, verb: string, keyId: number): void =>
  ctx.log.warn({ security: verb, user: by.id, ip: by.ip, key: keyId }, 'security event')

const present = (row: KeyRow): ApiKey => ({
  id: row.id,
  name: row.name,
  hint: row.hint,
  scopes: row.scopes as Scope[],
  permissions: row.permissions && TOKEN_PERMISSIONS.filter(permission => row.permissions?.includes(permission)),
  created_at: iso(row.createdAt),
  expires_at: isoOrNull(row.expiresAt),
  last_used_at: isoOrNull(row.lastUsedAt),
  last_network: row.lastNetwork
})
