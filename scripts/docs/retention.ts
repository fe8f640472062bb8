import { Settings } from '@netlet/contract'
import { DAY, HOUR, MINUTE } from '../../apps/server/src/infra/clock.ts'
import type { Keep, RetentionEntry } from '../../apps/server/src/infra/retention.ts'

/** docs/RETENTION.md: what is removed and when, and what is kept. */
export function retentionMarkdown(entries: readonly RetentionEntry[]): string {
  const defaults = Settings.parse({})
  const rows = entries.map(({ what, keep, why }) => `| \`${what}\` | ${time(keep, defaults)} | ${why} |`)
  return [
    '# Retention',
    '',
    'What grows is removed by one job, `apply-retention`, every ten minutes: at most 1,000 rows in a transaction, and 30',
    'seconds for one kind of rows, so that nobody waits for it. A run ends after seven minutes, and another one begins where it',
    'stopped. The list is made from what the domains declare',
    '(`retention.ts`) by `npm run docs`; a test fails when it is stale. Days are settings, with the default shown;',
    'administrators see what was found and removed last under `GET /api/settings/retention`.',
    '',
    '| what | kept for | why |',
    '| --- | --- | --- |',
    ...rows,
    '',
    '## Kept for ever',
    '',
    '- Orders that were paid, payments, points records, coupons and gift cards: money.',
    '- Leases and lease blocks of orders that were paid: for any address and instant they tell which order held it, under',
    '  which rules. Those of reservations that nobody paid go with their orders.',
    '- What came of trying credentials whose lease has ended, beside the leases. The old password goes once it is known.',
    '- Users. A deleted one with a history keeps a row without its name, address and password.',
    '- Refunds that the platform told of, outages with the time credited for them, and the addresses under which this',
    '  installation registered webhooks. Which mails an address does not want, and that it is not written to, until its user',
    '  is deleted.',
    '- Servers, ranges, rules, products and tickets: an administrator removes them.',
    '',
    '## Gone with the user',
    '',
    'Deleting a user removes its personal data at once ([SECURITY.md](SECURITY.md)), also from what waits: a mail to its address',
    'that was not sent is not sent any more, and its job or dead letter keeps the cause and nothing of what it said. Only the mail',
    'that says that the account was deleted still goes there; it leaves the job table within minutes of being sent, and within a',
    'day while the mail service fails. A dead letter of anything is kept for two weeks.',
    '',
    '## Never removed, however old',
    '',
    '- A platform event that has not been handled, or whose money needs somebody: neither its payload nor its row.',
    '- A retired proxy whose lease has not been released yet.',
    '- An unpaid order that has a payment, proxies, or addresses that are not released.',
    ''
  ].join('\n')
}

function time(keep: Keep, defaults: Settings): string {
  if ('setting' in keep) return `${defaults[keep.setting]} days (\`${keep.setting}\`)`
  if (keep.ms === 0) return 'until it expires'
  const [unit, name] = keep.ms >= 2 * DAY ? [DAY, 'days'] : keep.ms >= HOUR ? [HOUR, 'hours'] : [MINUTE, 'minutes']
  const count = keep.ms / unit
  return count === 1 ? `${count} ${name.slice(0, -1)}` : `${count} ${name}`
}
