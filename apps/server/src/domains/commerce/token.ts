import type { Settings } from '@netlet/contract'
import { eq, ne } from '../../infra/db/drizzle.ts'
import {
  fixedToken,
  requestToken,
  shopBase,
  type AccessTokens,
  type ShopifyFailure,
  type ShopifyResult
} from '../../integrations/shopify/index.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { MINUTE, SECOND } from '../../infra/clock.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { withSessionLock } from '../../infra/db/session-lock.ts'
import { hashToken } from '../../infra/secrets.ts'
import { recordRefusal, recordAcceptance } from '../notices/index.ts'
import { readSettings } from '../settings/index.ts'
import { platformTokens } from './tables.ts'

/** How long a call waits for another process to get a token: longer than one exchange takes. */
const PATIENCE = 15 * SECOND
/** The pause after a failure: the longest one, and the first one while calls wait for a token. */
const PAUSE = { most: MINUTE, least: 2 * SECOND }
/** The longest pause that we accept from the platform. */
const MOST_AWAY = 10 * MINUTE
/** If a token this fresh is refused, another one would be refused too. */
const FRESH = 10 * SECOND

/** A token keeps the permissions that the app had when it was granted. A newer one has no others yet. */
const SCOPES_STAND = 10 * MINUTE

/**
 * How the shop gets access: with the saved access token, or else with tokens for the app's key and secret; null: the
 * settings have neither.
 */
export function accessOf(settings: Settings): 'token' | 'grant' | null {
  if (!shopBase(settings.shopify_shop_url)) return null
  if (settings.shopify_app_key !== '') return 'token'
  return settings.shopify_api_key !== '' && settings.shopify_api_secret !== '' ? 'grant' : null
}

/** Identifies the credentials that a refusal is about. It says nothing about other ones. */
export const platformKeyOf = (settings: Settings): string =>
  [
    shopBase(settings.shopify_shop_url),
    settings.shopify_app_key || [settings.shopify_api_key, settings.shopify_api_secret]
  ]
    .flat()
    .join('\n')

type Row = typeof platformTokens.$inferSelect

/** The current token and the state of its renewal; undefined if none was requested yet. */
export async function readToken(db: Executor, settings: Settings): Promise<Row | undefined> {
  const key = hashToken(platformKeyOf(settings))
  const [row] = await db.select().from(platformTokens).where(eq(platformTokens.credentials, key))
  return row
}

/** When to renew a token: with a quarter of its life left, which is six hours of a day. */
export const renewalOf = ({ obtainedAt, endsAt }: { obtainedAt: Date; endsAt: Date }): Date =>
  new Date(endsAt.getTime() - (endsAt.getTime() - obtainedAt.getTime()) / 4)

/**
 * Gives calls their token. All processes share one in the database: one process renews it while the others wait, or use
 * the current one while it is valid.
 */
export function openTokens(ctx: AppContext, settings: Settings): AccessTokens {
  const refused = (_token: string, message: string) => recordRefusal(ctx, 'platform', platformKeyOf(settings), message)
  if (accessOf(settings) === 'token') return { ...fixedToken(settings.shopify_app_key), refused }
  /** The token after this one, if that is at least this old. */
  const next = (token: string, age: number) =>
    obtain(ctx, settings, {
      cause: `${age} ${token}`,
      waitMs: PATIENCE,
      isNeeded: (row, now) =>
        !row?.obtainedAt || (openToken(ctx, row) === token && now.getTime() - row.obtainedAt.getTime() >= age)
    })
  return {
    refused,
    async current() {
      const now = ctx.now()
      const row = await readToken(ctx.db, settings)
      const token = row && openToken(ctx, row)
      if (!row?.obtainedAt || !row.endsAt || token === null || token === undefined || row.endsAt <= now)
        return obtain(ctx, settings, {
          cause: 'none',
          waitMs: PATIENCE,
          isNeeded: one => one === undefined || !isNewer(one, row)
        })
      if (renewalOf({ obtainedAt: row.obtainedAt, endsAt: row.endsAt }) > now) return { ok: true, value: token }
      if (isUnderWay(ctx, settings, 'due')) return { ok: true, value: token }
      const due = await obtain(ctx, settings, {
        cause: 'due',
        waitMs: 0,
        isNeeded: one => one === undefined || !isNewer(one, row)
      })
      return due.ok ? due : { ok: true, value: token }
    },
    renewed: token => next(token, FRESH),
    withNewScopes: token => next(token, SCOPES_STAND)
  }
}

const isNewer = (row: Row, before: Row | undefined): boolean =>
  row.obtainedAt !== null && row.obtainedAt.getTime() > (before?.obtainedAt?.getTime() ?? 0)

/** Null if it was sealed under another APP_SECRET. Then a new one is needed. */
function openToken({ secrets }: AppContext, { token }: Row): string | null {
  try {
    return token && secrets.open(token)
  } catch {
    return null
  }
}

/** Calls of one process with the same credentials and cause share one request. @param waitMs for another process */
type Asking = { cause: string; waitMs: number; isNeeded: (row: Row | undefined, now: Date) => boolean }

/** This process's running requests. */
const underWay = new WeakMap<AppContext, Map<string, Promise<ShopifyResult<string>>>>()
const nameOf = (settings: Settings, cause: string) => `${platformKeyOf(settings)}\n${cause}`
const isUnderWay = (ctx: AppContext, settings: Settings, cause: string): boolean =>
  underWay.get(ctx)?.has(nameOf(settings, cause)) ?? false

/** Gets the next token once for all calls of this process. Otherwise each would poll the database for the lock. */
function obtain(ctx: AppContext, settings: Settings, asking: Asking): Promise<ShopifyResult<string>> {
  const asked = underWay.get(ctx) ?? new Map<string, Promise<ShopifyResult<string>>>()
  underWay.set(ctx, asked)
  const name = nameOf(settings, asking.cause)
  const known = asked.get(name)
  if (known) return known
  const got = obtainAlone(ctx, settings, asking).finally(() => asked.delete(name))
  asked.set(name, got)
  return got
}

/** Gets the next token, unless another process has, or has just failed to. */
async function obtainAlone(
  ctx: AppContext,
  settings: Settings,
  { waitMs, isNeeded }: Asking
): Promise<ShopifyResult<string>> {
  const locked = await withSessionLock(
    ctx.db,
    'platformToken',
    0,
    async (): Promise<ShopifyFailure | null> => {
      const row = await readToken(ctx.db, settings)
      const now = ctx.now()
      if (!isNeeded(row, now)) return null
      if (row?.failure && row.retryAt && row.retryAt > now) return row.failure
      return ask(ctx, settings, row)
    },
    { waitMs }
  )
  if (locked.ran && locked.value) return locked.value
  const row = await readToken(ctx.db, settings)
  const token = row && openToken(ctx, row)
  if (token && row.endsAt && row.endsAt > ctx.now()) return { ok: true, value: token }
  const message = 'Another process of the shop is waiting for an access token from the platform.'
  return row?.failure ?? { ok: false, reason: 'timeout', message, retryable: true }
}

/** Requests a token and records the result. @returns the failure, or null if there is a token now */
async function ask(ctx: AppContext, settings: Settings, row: Row | undefined): Promise<ShopifyFailure | null> {
  const credentials = hashToken(platformKeyOf(settings))
  // Before the request, so that the token ends no later than computed.
  const askedAt = ctx.now()
  const granted = await requestToken({
    shopUrl: settings.shopify_shop_url,
    clientId: settings.shopify_api_key,
    clientSecret: settings.shopify_api_secret,
    ...ctx.platformLimits
  })
  await command(ctx, SYSTEM, async unit => {
    const { tx, now } = unit
    const lives = row?.endsAt !== null && row?.endsAt !== undefined && row.endsAt > now
    const set = granted.ok
      ? {
          token: ctx.secrets.seal(granted.value.token),
          obtainedAt: askedAt,
          endsAt: new Date(askedAt.getTime() + granted.value.lifetimeMs),
          failingSince: null,
          failure: null,
          retryAt: null
        }
      : {
          failingSince: row?.failingSince ?? now,
          failure: failureOf(granted),
          retryAt: new Date(
            now.getTime() +
              Math.max(
                lives ? PAUSE.most : pauseAfter(now.getTime() - (row?.failingSince ?? now).getTime()),
                Math.min(granted.waitMs ?? 0, MOST_AWAY)
              )
          )
        }
    await tx
      .insert(platformTokens)
      .values({ credentials, ...set })
      .onConflictDoUpdate({ target: platformTokens.credentials, set })
    // Deletes other credentials' tokens, unless the settings have changed since: then one of those is current.
    if (granted.ok && platformKeyOf(await readSettings(tx, ctx.secrets)) === platformKeyOf(settings))
      await tx.delete(platformTokens).where(ne(platformTokens.credentials, credentials))
    unit.publish('platform_event')
  })
  if (granted.ok) await recordAcceptance(ctx, 'platform_key')
  else {
    ctx.log.warn({ reason: granted.reason }, granted.message)
    if (granted.reason === 'unauthorized')
      await recordRefusal(ctx, 'platform_key', platformKeyOf(settings), granted.message)
  }
  return granted.ok ? null : failureOf(granted)
}

/** Without a token the pause doubles the time of the failure, so that a silent platform gets fewer and fewer calls. */
const pauseAfter = (failingMs: number): number => Math.min(Math.max(PAUSE.least, failingMs), PAUSE.most)

const failureOf = ({ ok, reason, message, retryable }: ShopifyFailure): ShopifyFailure => ({
  ok,
  reason,
  message,
  retryable
})
