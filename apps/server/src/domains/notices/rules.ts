import { type Language, NoticeRules, type ShownNoticeRules } from '@netlet/contract'
import type { Actor } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Executor } from '../../infra/db/client.ts'
import { lock } from '../../infra/db/locks.ts'
import { type Result, ok } from '../../infra/result.ts'
import { type Edit, staleEdit, versionOf } from '../../infra/version.ts'
import type { PublicHttpPolicy, Resolve } from '../../integrations/public-http/index.ts'
import type { NoticeFinder } from './found.ts'
import { noticeRules } from './tables.ts'

/** The saved rules, with defaults for missing ones. Rules of another version that do not parse count as not saved. */
export async function readRules(db: Executor): Promise<NoticeRules> {
  const [row] = await db.select({ rules: noticeRules.rules }).from(noticeRules)
  const saved = NoticeRules.safeParse(row?.rules ?? {})
  return saved.success ? saved.data : NoticeRules.parse({})
}

export const presentRules = (rules: NoticeRules): ShownNoticeRules => ({ ...rules, version: versionOf(rules) })

/** Saves the rules of notices. The next search applies them to open notices. */
export function saveRules(
  ctx: AppContext,
  by: Actor,
  { version, ...form }: Edit<NoticeRules>
): Promise<Result<ShownNoticeRules>> {
  return command(ctx, by, async unit => {
    await lock(unit.tx, 'notices')
    const before = await readRules(unit.tx)
    const stale = staleEdit(version, presentRules(before), { now: before, sent: form })
    if (stale) return stale
    const row = { rules: form, updatedAt: unit.now }
    await unit.tx
      .insert(noticeRules)
      .values({ id: 1, ...row })
      .onConflictDoUpdate({ target: noticeRules.id, set: row })
    unit.audit('notice.save_rules', 'rules', changesOf(before, form))
    return ok(presentRules(form))
  })
}

/** Only the differences, because a whole form would hide them in the log. */
function changesOf(before: NoticeRules, after: NoticeRules): { before: object; after: object } {
  const differs = (key: keyof NoticeRules) => JSON.stringify(before[key]) !== JSON.stringify(after[key])
  const keys = (Object.keys(after) as (keyof NoticeRules)[]).filter(differs)
  const part = (of: NoticeRules) => Object.fromEntries(keys.map(key => [key, of[key]]))
  return { before: part(before), after: part(after) }
}

export type Operator = { id: number; username: string; email: string; language: Language }

/** What notices need from higher domains and from the network. */
export type NoticePorts = {
  finders: readonly NoticeFinder[]
  /** Active operators: these, or without ids all who act on notices. */
  operators(db: Executor, ids: readonly number[]): Promise<Operator[]>
  /** Do some of these addresses belong to the shop's servers or ranges? */
  ownsAddresses(db: Executor, addresses: readonly string[]): Promise<boolean>
  /** By default the DNS, and 10 s for an exchange. */
  resolve?: Resolve
  timeoutMs?: number
}

/** Where notices may be posted: public addresses with https, and origins that the environment names. */
export const readPolicy = (
  { db, config }: Pick<AppContext, 'db' | 'config'>,
  { ownsAddresses }: Pick<NoticePorts, 'ownsAddresses'>
): PublicHttpPolicy => ({
  allowHttp: false,
  allowedUrls: config.webhookOrigins.map(origin => `${origin}/`),
  ownHosts: [new URL(config.publicUrl).hostname],
  areOwn: addresses => ownsAddresses(db, addresses)
})
