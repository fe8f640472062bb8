import { pino } from 'pino'
import { expect, test, vi } from 'vitest'
import { createLogTail, type LogLine } from './log.ts'

function collector() {
  const stored: LogLine[] = []
  let broken = false
  return {
    stored,
    store: async (lines: LogLine[]) => {
      if (broken) throw new Error('the database is away')
      stored.push(...lines)
    },
    break: (value: boolean) => (broken = value)
  }
}

const texts = (lines: LogLine[]) => lines.map(({ source, line }) => `${source}: ${line.replace(/^\S+ /, '')}`)

test('lines of both kinds reach the store, also earlier ones, without what was redacted', async () => {
  const tail = createLogTail({ worker: false, interval: 5 })
  const log = pino({ level: 'debug', redact: { paths: ['password'], censor: '[secret]' } }, tail.stream)
  const { stored, store } = collector()
  log.info({ password: 'hush' }, 'before')
  log.debug('too small')
  tail.start(store)
  log.warn({ queue: 'deliver', job: 'x' }, 'job failed')
  await vi.waitFor(() => expect(stored).toHaveLength(2), { timeout: 30_000 })
  log.error({ err: new Error('why') }, 'at the end')
  await tail.stop()
  expect(texts(stored).map(text => text.split('\n')[0])).toEqual([
    'server: INFO before {"password":"[secret]"}',
    'task: WARN job failed {"queue":"deliver","job":"x"}',
    'server: ERROR at the end'
  ])
  expect(stored[2]?.line).toContain('Error: why')
})

test('all lines of a worker are about tasks', async () => {
  const tail = createLogTail({ worker: true })
  const { stored, store } = collector()
  pino({}, tail.stream).info('started')
  tail.start(store)
  await tail.stop()
  expect(texts(stored)).toEqual(['task: INFO started'])
})

test('while nothing can be stored, a bounded number of the latest lines wait', async () => {
  const tail = createLogTail({ worker: false, interval: 5 })
  const collected = collector()
  collected.break(true)
  const log = pino({}, tail.stream)
  tail.start(collected.store)
  for (let at = 0; at < 1200; at++) log.info(`line ${at}`)
  collected.break(false)
  await tail.stop()
  expect(collected.stored).toHaveLength(500)
  expect(collected.stored.at(-1)?.line).toContain('line 1199')
})
