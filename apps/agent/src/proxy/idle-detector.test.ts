import { describe, expect, test } from 'vitest'
import type { ClientConnection } from './connection.ts'
import { IdleDetector } from './idle-detector.ts'

const PATIENCE = 1000

/** A connection with a slow reader: `unsent` waits in this process, `held` in the kernel. */
function connection(unsent: number) {
  const state = { now: 0, held: 0 as number | null, read: 0, isHeld: false }
  const end = { address: '127.0.0.1', port: 1 }
  const socket = {
    get bytesRead() {
      return state.read
    },
    bytesWritten: 0,
    unsent,
    get held() {
      return state.isHeld
    },
    local: end,
    peer: end
  }
  const plane = {
    get now() {
      return state.now
    },
    sendQueues: { ask: (_ends: unknown, answer: (bytes: number | null) => void) => answer(state.held) }
  }
  const detector = new IdleDetector({ socket, remote: null, plane } as unknown as ClientConnection)
  /** Checks ten times per patience. Returns whether any check found the connection idle. */
  const isOverWithin = (patiences: number, each: () => void = () => {}): boolean => {
    for (let n = 0; n < patiences * 10; n++) {
      state.now += PATIENCE / 10
      each()
      if (detector.isOver(state.now, PATIENCE)) return true
    }
    return false
  }
  return { state, isOverWithin }
}

describe('a connection is idle', () => {
  test.each<[string, number, boolean, (state: ReturnType<typeof connection>['state']) => void]>([
    ['without any traffic', 0, true, () => {}],
    ['whose reader takes none of the waiting bytes', 5000, true, () => {}],
    ['of which the system shows no queues', 5000, true, state => (state.held = null)]
  ])('%s', (_, unsent, expected, each) => {
    const { state, isOverWithin } = connection(unsent)
    expect(isOverWithin(0.9, () => each(state))).toBe(false)
    expect(isOverWithin(2, () => each(state))).toBe(expected)
  })
})

describe('a connection is not idle', () => {
  test.each<[string, number, (state: ReturnType<typeof connection>['state']) => void]>([
    ['while its steady reader takes bytes only from the kernel', 5000, state => (state.held = (state.held ?? 0) - 1)],
    ['while bytes arrive', 0, state => state.read++],
    ['while a speed limit holds it', 0, state => (state.isHeld = true)]
  ])('%s', (_, unsent, each) => {
    const { state, isOverWithin } = connection(unsent)
    expect(isOverWithin(10, () => each(state))).toBe(false)
    // Once that ends, it becomes idle.
    state.isHeld = false
    expect(isOverWithin(3)).toBe(true)
  })
})
