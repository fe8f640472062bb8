import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { format, type FormatConfig } from 'oxfmt'
import { apiMarkdown } from '../../apps/server/src/api/markdown.ts'
import type { Job } from '../../apps/server/src/infra/job.ts'
import { readImports } from '../rules/imports.ts'
import { domainPicture } from './domains.ts'
import type { RetentionEntry } from '../../apps/server/src/infra/retention.ts'
import { jobsMarkdown } from './jobs.ts'
import { platformSchema } from './platform-schema.ts'
import { retentionMarkdown } from './retention.ts'

export type Document = { path: string; text: string }

/** Every document generated from the code, as it should be below `root`. */
export async function documents(root: string): Promise<Document[]> {
  const settings = JSON.parse(readFileSync(join(root, '.oxfmtrc.json'), 'utf8')) as FormatConfig
  const formatted = async (path: string, text: string): Promise<Document> => ({
    path,
    text: (await format(path, text, settings)).code
  })
  const architecture = readFileSync(join(root, 'docs/ARCHITECTURE.md'), 'utf8')
  const picture = domainPicture(await readImports(root))
  const jobs = await declaredJobs()
  const retention = await declaredRetention()
  return [
    await formatted('apps/sandbox/src/shopify/schema.graphql', platformSchema()),
    { path: 'docs/API.md', text: apiMarkdown() },
    await formatted('docs/ARCHITECTURE.md', replaceBetween(architecture, 'domains', picture)),
    ...(jobs.length > 0 ? [await formatted('docs/JOBS.md', jobsMarkdown(jobs))] : []),
    ...(retention.length > 0 ? [await formatted('docs/RETENTION.md', retentionMarkdown(retention))] : [])
  ]
}

/** All jobs, as workers.ts collects them. */
async function declaredJobs(): Promise<readonly Job[]> {
  const workers: Record<string, unknown> = await import('../../apps/server/src/workers.ts')
  return (workers['allJobs'] as readonly Job[] | undefined) ?? []
}

/** All retention entries, as retention.ts collects them. */
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
