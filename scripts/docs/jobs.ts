import type { Job } from '../../apps/server/src/infra/job.ts'

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
    'Made from the jobs that the domains declare (`jobs.ts`) by `npm run docs`; a test fails when it is stale. Times are',
    'cron expressions in UTC, and each runs once over all processes. _Tries_ is how often a job that fails is run, with',
    'growing pauses; 151 tries take about a day. After the last one it is kept in `dead-letter`. What is tried once is run',
    'again at its next time. A worker takes the next job as soon as one ends. Some queues have workers more for urgent jobs,',
    'and some limit how many jobs of one customer or one server run at once in a process. While urgent jobs run, each',
    'background job of the same process waits for up to half a second.',
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
