import type { BlockSource } from '@netlet/contract'
import { sql } from 'drizzle-orm'
import type { MailEvent } from '../../integrations/mail/index.ts'
import type { Unit } from '../../infra/command.ts'
import { blockAddresses, type Block } from './blocked-addresses.ts'
import { mails } from './tables.ts'

/**
 * Records a mail service's reports: the log of mails gets each mail's fate, and addresses that bounce or complain are
 * blocked. A repeated report changes nothing.
 */
export async function takeEvents(unit: Unit, source: BlockSource, events: readonly MailEvent[]): Promise<void> {
  const known = events.filter(({ key }) => key !== null)
  if (known.length > 0) await noteOnMails(unit, known)
  const blocks = events.flatMap(({ happened, address, at, reason }): Block[] =>
    happened === 'refused' ? [] : [{ address, cause: happened, at, reason, source }]
  )
  await blockAddresses(unit, blocks)
}

/** A mail bounced although the service had accepted it, or its recipient reported it as spam. */
async function noteOnMails({ tx }: Unit, events: readonly MailEvent[]): Promise<void> {
  const rows = new Map(events.map(event => [event.key, event]))
  const parts = [...rows.values()].map(
    ({ key, happened, reason, address }) => sql`(${key}::text, ${happened}::text, ${reason}::text, ${address}::text)`
  )
  await tx.execute(sql`
    update ${mails} set
      state = case when event.happened = 'complained' then ${mails.state} else 'bounced' end,
      error = event.reason,
      error_code = case when event.happened = 'refused' then 'rejected' else event.happened end
    from (values ${sql.join(parts, sql`, `)}) as event (key, happened, reason, address)
    where ${mails.key} = event.key and lower(${mails.to}) = lower(event.address)
      and ${mails.state} in ('sent', 'waiting')`)
}
