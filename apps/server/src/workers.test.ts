import { expect, test } from 'vitest'
import { CONVERGING_AT_ONCE } from './domains/fleet/converge-turns.ts'
import { POOL_MAX } from './infra/db/client.ts'
import { allJobs } from './workers.ts'

/** They hold a connection with a server's lock for as long as they talk to its agent, and ask for others meanwhile. */
const HOLDING = ['converge-server', 'converge-failing-server', 'repair-server', 'provision-server']
/** Jobs of this queue take their turns with the connections. */
const AT_ONCE: Record<string, number> = { 'converge-server': CONVERGING_AT_ONCE }

test('jobs that hold a connection while they wait for an agent leave half of the pool to all others', () => {
  const holding = allJobs.filter(({ queue }) => HOLDING.includes(queue.name))
  expect(holding).toHaveLength(HOLDING.length)
  expect(
    holding.reduce((sum, { queue, concurrency }) => sum + (AT_ONCE[queue.name] ?? concurrency), 0)
  ).toBeLessThanOrEqual(POOL_MAX / 2)
})

test('queues that customers wait for have workers that nothing else can take', () => {
  const names = allJobs.map(({ queue }) => queue.name)
  expect(new Set(names).size).toBe(names.length)
  const mail = allJobs.find(({ queue }) => queue.name === 'send-mail')
  expect(mail?.reserved).toBeGreaterThanOrEqual(1)
})
