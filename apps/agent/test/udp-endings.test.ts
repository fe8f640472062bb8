// A user can have a hundred thousand UDP targets. Other users' tunnels must not wait when its associations end.
import { expect, test } from 'vitest'
import { associate, datagram, turnsDuring, udpSocket, udpTo, until } from './test-agent.ts'
import { testPlane } from './test-plane.ts'

const ASSOCIATIONS = 20
const TARGETS = 256
/** Fewer datagrams than the agent reads of one user in a turn that is out of time. */
const AT_ONCE = 32

async function associations() {
  const { plane, port } = await testPlane()
  const later = { times: 0 }
  const goOnLater = plane.turns.later.bind(plane.turns)
  plane.turns.later = (...args) => {
    later.times++
    goOnLater(...args)
  }
  const client = await udpSocket()
  for (let n = 0; n < ASSOCIATIONS; n++) {
    const { relay } = await associate('127.0.0.1', port)
    const connection = [...plane.open.of('u')].at(-1)
    for (let target = 0; target < TARGETS; target++) {
      client.send(datagram(udpTo.v4('127.0.3.1', 10_240 + target), 'x'), relay, '127.0.0.1')
      // Each datagram counts with its headers.
      if (target % AT_ONCE === AT_ONCE - 1)
        await until('the datagrams', () => Reflect.get(connection ?? {}, 'udpUp') === 28 * (target + 1))
    }
  }
  const forgotten = (): number => plane.figures.outcomes['no-answer'] ?? 0
  later.times = 0
  return { plane, later, forgotten }
}

test('the targets of associations that end at once are forgotten in later turns of the loop, each with its line', async () => {
  const { plane, later, forgotten } = await associations()
  for (const connection of plane.open.of('u')) connection.destroy()
  expect(plane.open.size).toBe(0)
  expect(later.times).toBeGreaterThan(0)
  expect(forgotten()).toBeLessThan(ASSOCIATIONS * TARGETS)
  await until('all of them', () => forgotten() === ASSOCIATIONS * TARGETS)
})

test('so are those that were silent for too long, and the associations stay', async () => {
  const { plane, later, forgotten } = await associations()
  const inAMinute = plane.now + 61_000
  for (const connection of plane.open) connection.tick(inAMinute)
  expect(later.times).toBeGreaterThan(0)
  await until('all of them', () => forgotten() === ASSOCIATIONS * TARGETS)
  expect(plane.open.size).toBe(ASSOCIATIONS)
})

test('they are judged by another list some at a time', async () => {
  const { plane } = await associations()
  // Each association has hundreds of targets, so a few of them take more than a turn.
  const turns = await turnsDuring(() => plane.apply([{ op: 'blacklist', domains: ['closed.test'] }]))
  expect(turns).toBeGreaterThan(0)
})

test('when the process ends there are no later turns: all targets have their line at once', async () => {
  const { plane, forgotten } = await associations()
  plane.close()
  expect(forgotten()).toBe(ASSOCIATIONS * TARGETS)
})
