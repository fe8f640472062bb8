import { existsSync, globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { job } from '../../apps/server/src/infra/job.ts'
import { queue } from '../../apps/server/src/infra/jobs.ts'
import { refusals } from '../../packages/contract/src/messages.ts'
import { documents, jobsMarkdown, replaceBetween } from './documents.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const limits = readFileSync(join(root, 'docs/LIMITS.md'), 'utf8')

test('the documents that are made from the code are not stale: npm run docs writes them', async () => {
  const made = await documents(root)
  expect(made.length).toBeGreaterThan(1)
  for (const { path, text } of made)
    expect(existsSync(join(root, path)) && readFileSync(join(root, path), 'utf8'), path).toBe(text)
  // It reads the imports of all files.
}, 240_000)

test('the worked examples of the code style are in the files that they name', () => {
  const unindented = (text: string) => text.replaceAll(/^ +/gm, '').trim()
  const style = readFileSync(join(root, 'docs/CODE_STYLE.md'), 'utf8')
  const blocks = [...style.matchAll(/^```tsx?\n([^]*?)^```/gm)].map(([, block = '']) => block)
  const examples = blocks.flatMap(block => block.split(/^(?=\/\/ \S+\.tsx?)/m))
  expect(examples.length).toBeGreaterThanOrEqual(4)
  for (const example of examples) {
    const [, path = '', code = ''] = /^\/\/ (\S+\.tsx?)[^\n]*\n([^]*)$/.exec(example) ?? []
    expect(unindented(readFileSync(join(root, path), 'utf8')), path).toContain(unindented(code))
  }
})

test.each([
  ['docs/FAULTS.md', ['apps/server/src', 'apps']],
  ['docs/CONSOLE.md', ['apps/web/src/admin']],
  ['docs/SHOP.md', ['apps/web/src']]
])('the tests that %s names are there', (document, folders) => {
  const text = readFileSync(join(root, document), 'utf8')
  const named = [...text.matchAll(/`(\S+\.(?:test\.tsx?|spec\.ts))`/g)].map(([, path = '']) => path)
  expect(named.length).toBeGreaterThan(25)
  const isThere = (path: string) => ['', ...folders].some(folder => existsSync(join(root, folder, path)))
  expect(named.filter(path => !isThere(path))).toEqual([])
})

test('docs/ASVS.md has each requirement of levels 1 and 2, and names files that are there', () => {
  const text = readFileSync(join(root, 'docs/ASVS.md'), 'utf8')
  const rows = text.split('\n').flatMap(line => {
    const [, number = '', level, , state = '', how = ''] = line.split('|').map(cell => cell.trim())
    return /^\d+\.\d+\.\d+$/.test(number) ? [{ number, level, state, how }] : []
  })
  const ofLevel = (level: string) => rows.filter(row => row.level === level)
  expect([ofLevel('1').length, ofLevel('2').length]).toEqual([70, 183])
  expect(rows.filter(({ state, how }) => !/^(met|not met|not applicable)$/.test(state) || how === '')).toEqual([])
  expect(ofLevel('1').flatMap(({ number, state }) => (state === 'not met' ? number : []))).toEqual(['6.2.5'])
  for (const [level, ...states] of ['1', '2'].map(one => [one, 'met', 'not applicable', 'not met'] as const)) {
    const counts = states.map(state => ofLevel(level).filter(row => row.state === state).length)
    expect(text).toMatch(new RegExp(`\\| ${[level, ...counts].join(' +\\| ')} +\\|`))
  }
  const places = ['', 'apps/server/src', 'apps/server/src/domains', 'apps/web/src', 'packages/contract/src', 'docs']
  const named = rows.flatMap(({ how }) =>
    [...how.matchAll(/`([\w./@-]+\.(?:tsx?|md|conf|service))`/g)].map(([, path = '']) => path)
  )
  expect(named.length).toBeGreaterThan(150)
  const isThere = (path: string) => places.some(place => existsSync(join(root, place, path)))
  expect(named.filter(path => !isThere(path))).toEqual([])
})

test('docs/CONFIGURATION.md names every variable that the programs read', () => {
  const text = readFileSync(join(root, 'docs/CONFIGURATION.md'), 'utf8')
  const folders = ['apps/server/src', 'apps/agent/src', 'apps/sandbox/src', 'scripts/demo']
  const files = folders.flatMap(folder => globSync(`${folder}/**/*.ts`, { cwd: root }))
  const own = files.filter(file => !/\.(?:test|fixture)\.ts$|\/testing\//.test(file))
  const read = own.flatMap(file =>
    [...readFileSync(join(root, file), 'utf8').matchAll(/\benv(?:\.|\[')([A-Z][A-Z_]+)/g)].map(([, name = '']) => name)
  )
  // The supervisor sets these, and the dashboard of the job queue reads one that we set for it.
  const given = ['NODE_ENV', 'NOTIFY_SOCKET', 'WATCHDOG_USEC', 'PGBOSS_DASHBOARD_READ_ONLY', 'API_KEY']
  expect(read.length).toBeGreaterThan(50)
  expect([...new Set(read)].filter(name => !given.includes(name) && !text.includes(`\`${name}\``))).toEqual([])
})

test('each limit of docs/LIMITS.md is the one of the code', () => {
  const folders = ['apps/server/src', 'apps/server/src/domains']
  const named = [...limits.matchAll(/`(\S+\.ts)`: `([^`]+)`/g)]
  expect(named.length).toBeGreaterThan(50)
  for (const [, path = '', code = ''] of named) {
    const places = path.startsWith('contract/')
      ? [path.replace('contract/', 'packages/contract/src/')]
      : folders.map(folder => `${folder}/${path}`)
    const file = places.find(place => existsSync(join(root, place)))
    expect(file, path).toBeDefined()
    // What goes on after it would be another figure.
    const [, ...after] = readFileSync(join(root, file ?? ''), 'utf8').split(code)
    expect(
      after.some(rest => !/^\w/.test(rest)),
      `${path} has ${code}`
    ).toBe(true)
  }
})

test('docs/LIMITS.md names each refusal of too much, and no reason that is none', () => {
  const tooMuch = Object.entries(refusals).flatMap(([reason, [status]]) =>
    [408, 413, 429].includes(status) ? reason : []
  )
  const named = [...limits.matchAll(/`([a-z]+(?:_[a-z]+)*)`/g)].map(([, word = '']) => word)
  expect(tooMuch.length).toBeGreaterThan(15)
  expect(tooMuch.filter(reason => !named.includes(reason))).toEqual([])
  const cells = limits.split('\n').flatMap(line => line.split('|')[3] ?? [])
  const heard = cells.flatMap(cell => [...cell.matchAll(/`(\w+)`/g)].map(([, word = '']) => word))
  expect(heard.filter(reason => !(reason in refusals))).toEqual([])
})

test('each refusal of docs/LIMITS.md is provoked by a test, which names it or its sentence', () => {
  const tests = globSync('apps/server/src/**/*.test.ts', { cwd: root })
    .map(file => readFileSync(join(root, file), 'utf8'))
    .join('\n')
  const cells = limits.split('\n').flatMap(line => line.split('|')[3] ?? [])
  const reasons = new Set(cells.flatMap(cell => [...cell.matchAll(/`(\w+)`/g)].map(([, word = '']) => word)))
  const isTried = (reason: string) =>
    new RegExp(`['"\`]${reason}['"\`]`).test(tests) ||
    tests.includes(refusals[reason as keyof typeof refusals][1].split('{')[0] ?? '')
  expect(reasons.size).toBeGreaterThan(20)
  expect([...reasons].filter(reason => !isTried(reason))).toEqual([])
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
