import { expect, test } from 'vitest'
import { MINUTE } from './clock.ts'
import { logJobErrors } from './jobs.ts'
import { createLog } from './log.ts'

function telling() {
  let now = 0
  const lines: { err: { message: string }; more?: number }[] = []
  const log = createLog('test', 'info', undefined, {
    write: text => void lines.push(JSON.parse(text) as (typeof lines)[number])
  })
  return { tell: logJobErrors(log, () => now), lines, pass: (ms: number) => void (now += ms) }
}
const refused = (queue: string) => ({ code: 'ECONNREFUSED', message: `connect ECONNREFUSED (Queue: ${queue})`, queue })

test('an error that all queues have in common is logged once a minute, with its number of repetitions', () => {
  const { tell, lines, pass } = telling()
  for (let second = 0; second < 59; second++) {
    for (const queue of ['send-mail', 'send-webhook', 'deliver']) tell(refused(queue))
    pass(1000)
  }
  expect(lines).toHaveLength(1)
  expect(lines[0]?.err.message).toContain('ECONNREFUSED')
  expect(lines[0]).not.toHaveProperty('more')
  pass(MINUTE)
  tell(refused('deliver'))
  expect(lines).toHaveLength(2)
  expect(lines[1]?.more).toBe(59 * 3 - 1)
})

test('a different error is logged at once', () => {
  const { tell, lines } = telling()
  tell(refused('deliver'))
  tell(Object.assign(new Error('terminating connection'), { code: '57P01' }))
  tell(new Error('of no kind'))
  tell('a word')
  expect(lines.map(({ err }) => err.message)).toEqual([
    'connect ECONNREFUSED (Queue: deliver)',
    'terminating connection',
    'of no kind',
    'a word'
  ])
})
