import { CODE_KINDS, type CodeKind } from '@netlet/contract'
import { SYSTEM } from '../../infra/actor.ts'
import { command } from '../../infra/command.ts'
import type { AppContext } from '../../infra/context.ts'
import { openPlatform } from '../commerce/index.ts'
import { noteCode, wantedCodes } from '../rewards/index.ts'
import { compare } from './check-code.ts'
import { checkCodesQueue, type CodesFrom } from './queues.ts'

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
    const seen = await platform.data.discounts(rows.map(({ wanted }) => wanted.code))
    if (!seen.ok) {
      if (seen.retryable) throw new Error(seen.message)
      return ctx.log.warn({ reason: seen.message }, 'the platform was not asked about codes')
    }
    await command(ctx, SYSTEM, async unit => {
      for (const { id, wanted } of rows)
        await noteCode(unit, { kind: ofKind, id }, wanted, compare(seen.value.get(wanted.code) ?? null, wanted))
    })
    from = rows.at(-1)?.id ?? from
    if (rows.length === page) continue
    ;[at, from] = [CODE_KINDS[CODE_KINDS.indexOf(ofKind) + 1], 0]
  }
  const next = at
  if (next === undefined) return
  await command(ctx, SYSTEM, async unit =>
    unit.jobs.send(checkCodesQueue, { kind: next, after: from }, { key: `${next}:${from}` })
  )
}
