import { Writable } from 'node:stream'
import { DrizzleQueryError } from 'drizzle-orm/errors'
import { expect, test } from 'vitest'
import { createLog } from './log.ts'

/** What the log writes to its second destination. */
function logged(write: (log: ReturnType<typeof createLog>) => void): string {
  let text = ''
  const beside = new Writable({
    write(chunk: Buffer, _encoding, done) {
      text += chunk.toString()
      done()
    }
  })
  write(createLog('test', 'info', beside, new Writable({ write: (_chunk, _encoding, done) => done() })))
  return text
}

test('a failed query is logged without its values', () => {
  const cause = Object.assign(new Error('duplicate key value violates unique constraint "users_email"'), {
    code: '23505',
    constraint: 'users_email',
    detail: 'Key (email)=(anna@example.com) already exists.'
  })
  const failed = new DrizzleQueryError('insert into "orders" values ($1)', ['proxy-password'], cause)
  const text = logged(log => log.error({ err: failed }, 'request failed'))
  expect(text).not.toMatch(/proxy-password|anna@example\.com/)
  for (const kept of ['insert into', '23505', 'users_email', 'log.test.ts', 'request failed'])
    expect(text).toContain(kept)
})

test('an error keeps its kind, message, place and causes', () => {
  const text = logged(log =>
    log.warn({ err: new TypeError('outer', { cause: new RangeError('inner') }) }, 'job failed')
  )
  const { err } = JSON.parse(text) as { err: { type: string; message: string; stack: string; cause: { type: string } } }
  expect(err).toMatchObject({ type: 'TypeError', message: 'outer', cause: { type: 'RangeError', message: 'inner' } })
  expect(err.stack).toContain('log.test.ts')
})

test('fields that hold secrets are blanked', () => {
  const headers = { cookie: 'one in a cookie', authorization: 'one in a header' }
  const text = logged(log => log.info({ password: 'one by itself', headers }, 'x'))
  // A line also names the machine, so we search for texts that no host name contains.
  expect(text).not.toMatch(/one in a cookie|one in a header|one by itself/)
})

test.each([
  ['warn', ['started', 'slow'], ['slow']],
  ['info', ['started', 'slow'], ['started', 'slow']],
  ['trace', ['started', 'slow'], ['detail', 'started', 'slow']],
  ['silent', [], []]
] as const)('at level %s the console keeps %j, and standard output has %j', (level, kept, printed) => {
  const lines = { beside: [] as string[], main: [] as string[] }
  const to = (name: keyof typeof lines) => ({
    write: (text: string) => void lines[name].push((JSON.parse(text) as { msg: string }).msg)
  })
  const log = createLog('test', level, to('beside'), to('main'))
  log.trace('detail')
  log.info('started')
  log.warn('slow')
  expect(lines).toEqual({ beside: kept, main: printed })
})
