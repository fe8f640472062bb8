import { OPTIONAL_MAILS, type MailChoices, type OptionalMail } from '@netlet/contract'
import { eq, ilike, sql } from 'drizzle-orm'
import type { Unit } from '../../infra/command.ts'
import type { Executor } from '../../infra/db/client.ts'
import { exactly } from './address.ts'
import { mailChoices, mails } from './tables.ts'

/** Which mails an address wants. */
export async function readChoices(db: Executor, address: string): Promise<MailChoices> {
  const [row] = await db.select().from(mailChoices).where(eq(mailChoices.address, address.toLowerCase()))
  const wants = (kind: OptionalMail) => !row?.off.includes(kind)
  return { payments: wants('payments'), proxies: wants('proxies'), expiry: wants('expiry') }
}

/** Keeps which mails an address wants. */
export async function saveChoices({ tx }: Unit, address: string, choices: MailChoices): Promise<void> {
  const off = OPTIONAL_MAILS.filter(kind => !choices[kind])
  await tx
    .insert(mailChoices)
    .values({ address: address.toLowerCase(), off })
    .onConflictDoUpdate({ target: mailChoices.address, set: { off } })
}

/** Switches one kind off; the others stay as they are. */
export async function switchOff({ tx }: Unit, address: string, kind: OptionalMail): Promise<void> {
  await tx
    .insert(mailChoices)
    .values({ address: address.toLowerCase(), off: [kind] })
    .onConflictDoUpdate({
      target: mailChoices.address,
      set: { off: sql`array(select distinct unnest(${mailChoices.off} || excluded.off) order by 1)` }
    })
}

/** A user has another address from now on: what it chose goes with it. */
export async function moveChoices(unit: Unit, from: string, to: string): Promise<void> {
  if (from.toLowerCase() === to.toLowerCase()) return
  await saveChoices(unit, to, await readChoices(unit.tx, from))
  await unit.tx.delete(mailChoices).where(eq(mailChoices.address, from.toLowerCase()))
}

/** Nobody has this address any more: its choices go, and the log of mails does not name it. */
export async function forgetAddress({ tx }: Unit, address: string): Promise<void> {
  await tx.delete(mailChoices).where(eq(mailChoices.address, address.toLowerCase()))
  await tx
    .update(mails)
    .set({ to: 'deleted', unsent: null })
    .where(ilike(mails.to, exactly(address)))
}
