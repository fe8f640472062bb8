import { OPTIONAL_MAILS, type MailChoices, type OptionalMail } from '@netlet/contract'
import { eq, sql } from 'drizzle-orm'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { mailChoices } from './tables.ts'

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
export async function switchOff({ tx }: Unit, address: string, kind: OptionalMail): Promise<void> {
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
