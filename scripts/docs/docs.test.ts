import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { job } from '../../apps/server/src/infra/job.ts'
import { queue } from '../../apps/server/src/infra/jobs.ts'
import { documents, replaceBetween } from './documents.ts'
import { jobsMarkdown } from './jobs.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))

test('the documents that are made from the code are not stale: npm run docs writes them', async () => {
  const made = await documents(root)
  expect(made.length).toBeGreaterThan(1)
  for (const { path, text } of made)
    expect(existsSync(join(root, path)) && readFileSync(join(root, path), 'utf8'), path).toBe(text)
})

test('jobs stand by name, with when they run', () => {
  const run = () => Promise.resolve()
  const text = jobsMarkdown([
    job(queue('sweep'), { purpose: 'Takes up what was left.', cron: '* * * * *', atStart: true, run }),
    job(queue('mail'), { purpose: 'Sends a mail.', concurrency: 4, run })
  ])
  const mail = text.indexOf('| `mail` | Sends a mail. | when asked | 4 |')
  expect(mail).toBeGreaterThan(0)
  expect(
    text.indexOf('| `sweep` | Takes up what was left. | `* * * * *`, at the start of a worker | 1 |')
  ).toBeGreaterThan(mail)
})

test('only what stands between the marks is replaced', () => {
  const document = 'a\n<!-- x -->\nold\n<!-- /x -->\nb'
  expect(replaceBetween(document, 'x', 'new')).toBe('a\n<!-- x -->\n\nnew\n\n<!-- /x -->\nb')
  expect(() => replaceBetween(document, 'y', 'new')).toThrow('no <!-- y -->')
})
