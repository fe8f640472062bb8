import { rolesThatMay, type Permission, type Scope } from '@netlet/contract'
import { and, eq, gt, inArray, isNull, lt, or, sql } from '../../infra/db/drizzle.ts'
import { alias } from 'drizzle-orm/pg-core'
import type { FastifyRequest } from 'fastify'
import { HOUR } from '../../infra/clock.ts'
import { isLoopback } from '../../infra/config.ts'
import type { Database } from '../../infra/db/client.ts'
import { SYSTEM, type UserActor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import { clientAddress, forwardedClient } from '../../infra/http/client-address.ts'
import type { Authenticator } from '../../infra/http/mount.ts'
import { hashToken } from '../../infra/secrets.ts'
import type { AppContext } from '../../infra/context.ts'
import { countKeyCall } from './api-key-use.ts'
import { requireConfirmation } from './confirm-session.ts'
import { dueAt, startGrace } from './second-factor/required.ts'
import { sessionEnd, sessionTokenOf } from './sessions.ts'
import { recordSecurityEvent } from './security-events.ts'
import { apiKeys, sessions, users } from './tables.ts'

/** The chat platform redirects the browser here from another site; `state` and a cookie guard these. */
const FROM_OUTSIDE = new Set(['/api/auth/discord/redirect', '/api/auth/discord/bind_redirect'])

/**
 * Did a page of ours send this? Fetch Metadata refuses other sites' pages, including reads: logging out is one. The
 * Origin header must match PUBLIC_URL: with DNS rebinding, another site's name could resolve to this machine.
 * Programs send neither header.
 */
function fromOurOrigin(request: FastifyRequest, publicUrl: string): boolean {
  const path = request.routeOptions.url ?? ''
  if (FROM_OUTSIDE.has(path)) return true
  // `none`: the person entered the address.
  const site = request.headers['sec-fetch-site'] ?? 'none'
  if (path.startsWith('/api') && site !== 'same-origin' && site !== 'none') return false
  const { origin } = request.headers
  if (origin === undefined || request.method === 'GET' || request.method === 'HEAD') return true
  return isOurOrigin(origin, request.host, publicUrl)
}

/** @param host the one that the browser addressed */
export function isOurOrigin(origin: string, host: string, publicUrl: string): boolean {
  if (origin === new URL(publicUrl).origin) return true
  // A shop that only this machine can reach may be opened by each of the machine's own names.
  return isLoopback(publicUrl) && isLoopback(origin) && new URL(origin).host === host
}

/** Of customers' keys, and of operators' tokens: a program that finds one in a text knows what it is. */
export const KEY_PREFIXES = { key: 'nlk_', token: 'nlo_' } as const

/**
 * Finds the caller by session cookie or API key, with one query for each request. A session's use is written at most
 * once an hour. A key's calls are counted, see api-key-use.ts.
 */
export function createAuthenticator(ctx: AppContext): Authenticator {
  const findSession = prepareSession(ctx.db)
  const findKey = prepareKey(ctx.db)

  async function bySession(token: string, ip: string): Promise<UserActor | null> {
    const now = ctx.now()
    const before = new Date(now.getTime() - HOUR)
    const [found] = await findSession.execute({ hash: hashToken(token), now: now.toISOString() })
    if (!found) return null
    const mustEnrol = [found.dueAt, found.impersonatorDueAt].some(due => due !== null && due <= now)
    // An operator without a second factor does not work in a customer's name either.
    if (mustEnrol && found.impersonatorId !== null) return null
    if (found.lastSeenAt < before) {
      // The administrator's own session stays alive with the session that views the shop as a user.
      const used = found.parentHash ? [found.tokenHash, found.parentHash] : [found.tokenHash]
      const isOver = await command(ctx, SYSTEM, async unit => {
        const expiresAt = await sessionEnd(unit, found.impersonatorId ?? found.userId, found.createdAt)
        await unit.tx
          .update(sessions)
          .set({ lastSeenAt: now, expiresAt })
          .where(and(inArray(sessions.tokenHash, used), lt(sessions.lastSeenAt, before)))
        if (expiresAt <= now) return true
        // Also for operators who logged in before one was required.
        if (found.isSuperuser) await startGrace(unit, found.userId)
        return false
      })
      // A setting has shortened its life.
      if (isOver) return null
    }
    const { impersonatorId, impersonatorName } = found
    return {
      kind: 'user',
      id: found.userId,
      username: found.username,
      isSuperuser: found.isSuperuser,
      role: found.isSuperuser && !mustEnrol ? found.role : null,
      mustEnrol,
      ip,
      sessionHash: found.tokenHash,
      impersonator: impersonatorId === null ? null : { id: impersonatorId, username: impersonatorName ?? '' },
      scopes: null
    }
  }

  async function byKey(key: string, ip: string): Promise<UserActor | null> {
    const now = ctx.now()
    const [found] = await findKey.execute({ hash: hashToken(key), now: now.toISOString() })
    if (!found) return null
    const { permissions } = found
    if (permissions && !found.isSuperuser) return null
    const mustEnrol = permissions !== null && found.dueAt !== null && found.dueAt <= now
    return {
      kind: 'user',
      id: found.userId,
      username: found.username,
      // A key never has more than a customer's rights. A token has what its permissions and the role allow.
      isSuperuser: permissions !== null,
      role: permissions && !mustEnrol ? found.role : null,
      mustEnrol,
      ip,
      sessionHash: null,
      impersonator: null,
      ...(permissions
        ? { scopes: null, permissions: permissions as Permission[] }
        : { scopes: found.scopes as Scope[] }),
      apiKey: { id: found.id, name: found.name }
    }
  }

  return {
    async authenticate(request) {
      const key = bearerKey(request)
      const ip = clientAddress(request)
      const token = sessionTokenOf(request, ctx.config)
      const caller = key ? await byKey(key, ip) : token ? await bySession(token, ip) : null
      return caller && { ...caller, forwardedFor: forwardedClient(request) }
    },
    admit: async (caller, route) => (caller.apiKey ? countKeyCall(ctx, caller, caller.apiKey, route) : null),
    confirmed: (caller, route, sent) => requireConfirmation(ctx, caller, route, sent),
    async refused(caller, { method, path }, { reason }) {
      if (reason === 'role_not_allowed' || reason === 'key_permission_missing')
        await recordSecurityEvent(ctx, caller, 'refuse_rights', { userId: caller.id, call: `${method} ${path}` })
    },
    fromOurOrigin: request => fromOurOrigin(request, ctx.config.publicUrl)
  }
}

function bearerKey(request: FastifyRequest): string | undefined {
  const match = /^Bearer (\S{1,200})$/i.exec(request.headers.authorization ?? '')
  return Object.values(KEY_PREFIXES).some(prefix => match?.[1]?.startsWith(prefix)) ? match?.[1] : undefined
}

/** A session as another user needs an active administrator and a valid parent session. */
function prepareSession(db: Database) {
  const impersonator = alias(users, 'impersonator')
  const parent = alias(sessions, 'parent')
  const now = sql.placeholder('now')
  return db
    .select({
      tokenHash: sessions.tokenHash,
      parentHash: sessions.parentHash,
      lastSeenAt: sessions.lastSeenAt,
      createdAt: sessions.createdAt,
      userId: users.id,
      username: users.username,
      isSuperuser: users.isSuperuser,
      role: users.operatorRole,
      impersonatorId: sessions.impersonatorId,
      impersonatorName: impersonator.username,
      dueAt: dueAt('users'),
      impersonatorDueAt: dueAt('impersonator')
    })
    .from(sessions)
    .innerJoin(users, and(eq(users.id, sessions.userId), eq(users.isActive, true)))
    .leftJoin(impersonator, eq(impersonator.id, sessions.impersonatorId))
    .leftJoin(parent, eq(parent.tokenHash, sessions.parentHash))
    .where(
      and(
        eq(sessions.tokenHash, sql.placeholder('hash')),
        gt(sessions.expiresAt, now),
        or(
          isNull(sessions.impersonatorId),
          and(
            eq(impersonator.isActive, true),
            eq(impersonator.isSuperuser, true),
            inArray(impersonator.operatorRole, rolesThatMay('users.switch')),
            eq(users.isSuperuser, false),
            gt(parent.expiresAt, now)
          )
        )
      )
    )
    .prepare('session')
}

function prepareKey(db: Database) {
  return db
    .select({
      id: apiKeys.id,
      name: apiKeys.name,
      scopes: apiKeys.scopes,
      permissions: apiKeys.permissions,
      userId: users.id,
      username: users.username,
      isSuperuser: users.isSuperuser,
      role: users.operatorRole,
      dueAt: dueAt('users')
    })
    .from(apiKeys)
    .innerJoin(users, and(eq(users.id, apiKeys.userId), eq(users.isActive, true)))
    .where(
      and(
        eq(apiKeys.keyHash, sql.placeholder('hash')),
        isNull(apiKeys.revokedAt),
        or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, sql.placeholder('now')))
      )
    )
    .prepare('api_key')
}
