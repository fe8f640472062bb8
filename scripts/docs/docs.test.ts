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

test('the worked examples of the code style are in the files that they name', () => {
  const unindented = (text: string) => text.replaceAll(/^ +/gm, '').trim()
  const style = readFileSync(join(root, 'docs/CODE_STYLE.md'), 'utf8')
  const blocks = [...style.matchAll(/^```tsx?\n([^]*?)^```/gm)].map(([, block = '']) => block)
  const examples = blocks.flatMap(block => block.split(/^(?=\/\/ \S+\.tsx?)/m))
  expect(examples.length).toBeGreaterThanOrEqual(5)
  for (const example of examples) {
    const [, path = '', code = ''] = /^\/\/ (\S+\.tsx?)[^\n]*\n([^]*)$/.exec(example) ?? []
    expect(unindented(readFileSync(join(root, path), 'utf8')), path).toContain(unindented(code))
  }
})

test.each([
  ['Faults from outside', 29, 'apps/server/src'],
  ['Faults of the agent and its fleet', 27, 'apps'],
  ['Faults of the links to other services', 13, 'apps/server/src']
])('each of docs/FAULTS.md has its tests: %s', (heading, count, below) => {
  const section = readFileSync(join(root, 'docs/FAULTS.md'), 'utf8')
    .split(/^#+ /m)
    .find(text => text.startsWith(heading))
  const rows = (section ?? '').split('\n').filter(line => /^\| +\d+ +\|/.test(line))
  expect(rows.map(row => Number(row.split('|')[1]))).toEqual(Array.from({ length: count }, (_, at) => at + 1))
  for (const row of rows) {
    const named = [...row.matchAll(/`(\S+\.test\.ts)`: (.+?)(?=<br>| +\|)/g)]
    expect(named.length, row).toBeGreaterThan(0)
    for (const [, path = '', title = ''] of named)
      expect(readFileSync(join(root, below, path), 'utf8'), `${path}: ${title}`).toContain(title)
  }
})

test('each link of docs/FAULTS.md has a test of each fault, or says why there can be none', () => {
  const section = readFileSync(join(root, 'docs/FAULTS.md'), 'utf8').split(/^## Each link and each fault$/m)[1] ?? ''
  const rows = section
    .split('\n')
    .filter(line => /^\| +[\w:]/.test(line))
    .map(line => line.split(/ *\| */).slice(1, -1))
  const tests = new Map(rows.filter(row => row.length === 2).map(([name = '', shown = '']) => [name, shown]))
  const links = rows.filter(row => row.length === 7).slice(1)
  expect(links.length).toBe(21)
  const used = new Set<string>()
  for (const [link, ...cells] of links) {
    for (const cell of cells) {
      const why = /^none: (\w)$/.exec(cell)?.[1]
      if (why !== undefined) expect(section, `${link}: ${cell}`).toContain(`(${why}) `)
      else
        for (const name of cell.split(', ')) expect(tests.has(name) && used.add(name), `${link}: ${cell}`).toBeTruthy()
    }
  }
  tests.delete('test')
  expect([...tests.keys()].filter(name => !used.has(name))).toEqual([])
  for (const shown of tests.values()) {
    const [, path = '', title = ''] = /^`(\S+\.(?:test|spec)\.ts)`: (.+)$/.exec(shown) ?? []
    const file = path.startsWith('e2e/') ? path : join('apps/server/src', path)
    expect(readFileSync(join(root, file), 'utf8'), shown).toContain(title)
  }
})

test.each([
  ['docs/CONSOLE.md', 'apps/web/src/admin'],
  ['docs/SHOP.md', 'apps/web/src']
])('each line of %s has its tests', (document, below) => {
  const rows = readFileSync(join(root, document), 'utf8')
    .split('\n')
    .filter(line => line.startsWith('|') && /\.test\.tsx?|\.spec\.ts/.test(line))
  expect(rows.length).toBeGreaterThan(25)
  for (const row of rows) {
    const named = [...row.matchAll(/`(\S+\.(?:test\.tsx?|spec\.ts))`: (.+?)(?=<br>| +\|)/g)]
    expect(named.length, row).toBeGreaterThan(0)
    for (const [, path = '', title = ''] of named) {
      const file = /^(e2e|apps)\//.test(path) ? path : join(below, path)
      expect(readFileSync(join(root, file), 'utf8'), `${path}: ${title}`).toContain(title)
    }
  }
})

test('jobs are sorted by name, with when they run and how often they are tried', () => {
  const run = () => Promise.resolve()
  const text = jobsMarkdown([
    job(queue('sweep', { retryLimit: 0 }), {
      purpose: 'Takes up what was left.',
      cron: '* * * * *',
      atStart: true,
      run
    }),
    job(queue('mail', { retryLimit: 2 }), { purpose: 'Sends a mail.', concurrency: 4, run })
  ])
  const mail = text.indexOf('| `mail` | Sends a mail. | when asked | 3 | 4 |')
  expect(mail).toBeGreaterThan(0)
  expect(
    text.indexOf('| `sweep` | Takes up what was left. | `* * * * *`, at the start of a worker | 1 | 1 |')
  ).toBeGreaterThan(mail)
})

test('only what is between the marks is replaced', () => {
  const document = 'a\n<!-- x -->\nold\n<!-- /x -->\nb'
  expect(replaceBetween(document, 'x', 'new')).toBe('a\n<!-- x -->\n\nnew\n\n<!-- /x -->\nb')
  expect(() => replaceBetween(document, 'y', 'new')).toThrow('no <!-- y -->')
})
