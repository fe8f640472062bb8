import { CODE_KINDS, type CodeKind } from '@netlet/contract'
import { queue } from '../../infra/jobs.ts'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import type { Shopify } from '../../integrations/shopify/index.ts'
import { openPlatform } from '../commerce/index.ts'
import { recordCode, wantedCodes } from '../rewards/index.ts'
import { compareDiscount } from './check-code.ts'

/** Where the comparison of codes continues: a kind, and its last compared id. */
export type CodesFrom = { kind?: CodeKind; after?: number }

export const checkCodesQueue = queue<CodesFrom>('check-platform-codes', { retryLimit: 8, expireInSeconds: 600 })

/** Codes in a page: five calls to the platform. */
const PAGE = 50
/** Pages of one run. The next run takes the rest. */
const PAGES = 20

/**
 * Records what the platform has under all unused codes, kind by kind in order of ids. Changes nothing there. An
 * interrupted run resumes where its job says.
 * @throws if a retry may help
 */
export async function checkCodes(
  ctx: AppContext,
  { kind = CODE_KINDS[0], after = 0 }: CodesFrom,
  { page = PAGE, pages = PAGES }: { page?: number; pages?: number } = {}
): Promise<void> {
  const platform = await openPlatform(ctx)
  if (!platform.ok) return
  let [at, from]: [CodeKind | undefined, number] = [kind, after]
  for (let count = 0; at !== undefined && count < pages; count++) {
    const ofKind: CodeKind = at
    const rows = await wantedCodes(ctx.db, ofKind, { after: from, limit: page })
    const seen = await readAll(ctx, platform.data, rows)
    await command(ctx, SYSTEM, async unit => {
      for (const { id, wanted, there } of seen)
        await recordCode(unit, { kind: ofKind, id }, wanted, compareDiscount(there, wanted))
    })
    from = rows.at(-1)?.id ?? from
    // If a whole page cannot be read, the rest of its kind cannot be read either.
    if (rows.length === page && seen.length > 0) continue
    ;[at, from] = [CODE_KINDS[CODE_KINDS.indexOf(ofKind) + 1], 0]
  }
  const next = at
  if (next === undefined) return
  await command(ctx, SYSTEM, async unit =>
    unit.jobs.send(checkCodesQueue, { kind: next, after: from }, { key: `${next}:${from}` })
  )
}

type Row = Awaited<ReturnType<typeof wantedCodes>>[number]

/**
 * The codes that can be read, with what the platform has under them. One that cannot be read fails its whole call, so
 * the others are then read one by one.
 * @throws if a retry may help
 */
async function readAll(ctx: AppContext, platform: Shopify, rows: readonly Row[]) {
  const read = async (part: readonly Row[]) => {
    const found = await platform.discounts(part.map(({ wanted }) => wanted))
    if (found.ok) return part.map(row => ({ ...row, there: found.value.get(row.wanted.code) ?? null }))
    if (found.retryable) throw new Error(found.message)
    if (part.length === 1) ctx.log.warn({ code: part[0]?.id, reason: found.message }, 'a code cannot be read')
    return null
  }
  const whole = await read(rows)
  if (whole) return whole
  const seen = []
  for (const row of rows) seen.push(...((await read([row])) ?? []))
  return seen
}
