import type { ChildProcess } from 'node:child_process'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import type { ToWorker } from './messages.ts'
import { WorkerProcess } from './worker-process.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** The managing process' view of a worker. `hear` handles the messages sent to it. */
function worker(hear: (message: ToWorker) => void) {
  const kill = vi.fn<() => boolean>()
  const made = new WorkerProcess({ send: hear, kill } as unknown as ChildProcess)
  made.isLive = true
  return { made, kill }
}

test.each([
  ['serving', true, 10],
  ['starting', false, 60]
])('a %s worker that stays silent is killed after its time', async (_, isListening, seconds) => {
  const { made, kill } = worker(() => {})
  made.listening = isListening
  const answer = made.ask(id => ({ type: 'lend', id }))
  await vi.advanceTimersByTimeAsync(seconds * 1000 - 1)
  expect(kill).not.toHaveBeenCalled()
  await vi.advanceTimersByTimeAsync(1)
  expect(kill).toHaveBeenCalledExactlyOnceWith('SIGKILL')
  made.gone()
  expect(await answer).toBe(null)
})

test('a worker that answers in time is not killed, and gets changes one after another', async () => {
  const heard: string[] = []
  const { made, kill } = worker(message => {
    heard.push(JSON.stringify(message))
    if ('id' in message) setTimeout(() => made.answered({ type: 'applied', id: message.id }), 5000)
  })
  for (const domain of ['a.test', 'b.test']) void made.feed([{ op: 'blacklist', domains: [domain] }])
  await vi.advanceTimersByTimeAsync(4999)
  expect(heard.join()).not.toContain('b.test')
  await vi.advanceTimersByTimeAsync(120_000)
  await made.fed
  expect(heard.join()).toMatch(/a\.test.*b\.test/)
  expect(kill).not.toHaveBeenCalled()
})
