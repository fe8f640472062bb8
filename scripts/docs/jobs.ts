import type { Job } from '../../apps/server/src/infra/job.ts'

/** docs/JOBS.md: every kind of background work, with when it runs and what for. */
export function jobsMarkdown(jobs: readonly Job[]): string {
  const rows = jobs
    .toSorted((a, b) => (a.queue.name < b.queue.name ? -1 : 1))
    .map(({ queue, purpose, cron, atStart, concurrency }) => {
      const times = [cron ? `\`${cron}\`` : '', atStart ? 'at the start of a worker' : ''].filter(Boolean).join(', ')
      return `| \`${queue.name}\` | ${purpose.replaceAll('|', String.raw`\|`)} | ${times || 'when asked'} | ${concurrency} |`
    })
  return [
    '# Jobs',
    '',
    'Made from the jobs that the domains declare (`jobs.ts`) by `npm run docs`; a test fails when it is stale. Times are',
    'cron expressions in UTC, and each runs once over all processes. A job that fails is tried again with growing pauses',
    'and ends in `dead-letter`.',
    '',
    '| queue | what for | runs by itself | at once in one process |',
    '| --- | --- | --- | --- |',
    ...rows,
    ''
  ].join('\n')
}
