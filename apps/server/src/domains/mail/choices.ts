import { type MailChoices, OPTIONAL_MAILS, type OptionalMail, refuse } from '@netlet/contract'
import { eq, sql } from '../../infra/db/drizzle.ts'
import { type Unit, command } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { mailChoices } from './tables.ts'
import type { Actor } from '../../infra/actor.ts'
import type { AppContext } from '../../infra/context.ts'
import { type Result, ok } from '../../infra/result.ts'
import type { Secrets } from '../../infra/secrets.ts'

const PURPOSE = 'unsubscribe'

/** The link's token contains the address and the kind. It is sealed, so it cannot be forged or read. */
export const unsubscribeToken = (secrets: Secrets, address: string, kind: OptionalMail): string =>
  secrets.kept.seal(JSON.stringify([PURPOSE, address, kind])).toString('base64url')

/** Switches off the kind in a mail's link. A repeat changes nothing. */
export async function unsubscribe(ctx: AppContext, by: Actor, token: string): Promise<Result<{ kind: OptionalMail }>> {
  const named = openToken(ctx.secrets, token)
  if (!named) return refuse('wrong_unsubscribe_token')
  return command(ctx, by, async unit => {
    await switchOff(unit, named.address, named.kind)
    return ok({ kind: named.kind })
  })
}

function openToken(secrets: Secrets, token: string): { address: string; kind: OptionalMail } | null {
  try {
    const [purpose, address, kind] = JSON.parse(secrets.kept.open(Buffer.from(token, 'base64url'))) as unknown[]
    const known = OPTIONAL_MAILS.find(one => one === kind)
    return purpose === PURPOSE && typeof address === 'string' && known ? { address, kind: known } : null
  } catch {
    return null
  }
}

export async function readChoices(db: Executor, address: string): Promise<MailChoices> {
  const [row] = await db.select().from(mailChoices).where(eq(mailChoices.address, address.toLowerCase()))
  const wants = (kind: OptionalMail) => !row?.off.includes(kind)
  return { payments: wants('payments'), proxies: wants('proxies'), expiry: wants('expiry') }
}

export async function saveChoices({ tx }: Unit, address: string, choices: MailChoices): Promise<void> {
  const off = OPTIONAL_MAILS.filter(kind => !choices[kind])
  await tx
    .insert(mailChoices)
    .values({ address: address.toLowerCase(), off })
    .onConflictDoUpdate({ target: mailChoices.address, set: { off } })
}

/** Switches one kind off and leaves the others. */
async function switchOff({ tx }: Unit, address: string, kind: OptionalMail): Promise<void> {
  await tx
    .insert(mailChoices)
    .values({ address: address.toLowerCase(), off: [kind] })
    .onConflictDoUpdate({
      target: mailChoices.address,
      set: { off: sql`array(select distinct unnest(${mailChoices.off} || excluded.off) order by 1)` }
    })
}

/** Moves the choices to a user's new address. A kind that either address had switched off stays off. */
export async function moveChoices(unit: Unit, from: string, to: string): Promise<void> {
  if (from.toLowerCase() === to.toLowerCase()) return
  const [old, own] = [await readChoices(unit.tx, from), await readChoices(unit.tx, to)]
  const both = (kind: OptionalMail) => old[kind] && own[kind]
  await saveChoices(unit, to, { payments: both('payments'), proxies: both('proxies'), expiry: both('expiry') })
  await unit.tx.delete(mailChoices).where(eq(mailChoices.address, from.toLowerCase()))
}
