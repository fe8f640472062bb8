import { describe, expect, test } from 'vitest'
import type { ClientConnection } from './connection.ts'
import { IdleDetector } from './idle-detector.ts'

const PATIENCE = 1000

/** A connection whose client takes little: `unsent` waits in this process, `held` in the kernel. */
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
  /** Looks each tenth of the patience, for so many times the patience; whether it was over at any look. */
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
    ['on which nothing comes or goes', 0, true, () => {}],
    ['whose reader takes nothing of what waits', 5000, true, () => {}],
    ['of which the system tells nothing', 5000, true, state => (state.held = null)]
  ])('%s', (_, unsent, expected, each) => {
    const { state, isOverWithin } = connection(unsent)
    expect(isOverWithin(0.9, () => each(state))).toBe(false)
    expect(isOverWithin(2, () => each(state))).toBe(expected)
  })
})

describe('a connection is not idle', () => {
  test.each<[string, number, (state: ReturnType<typeof connection>['state']) => void]>([
    ['while its steady reader takes from the kernel alone', 5000, state => (state.held = (state.held ?? 0) - 1)],
    ['while bytes come', 0, state => state.read++],
    ['while a limit of speed holds it up', 0, state => (state.isHeld = true)]
  ])('%s', (_, unsent, each) => {
    const { state, isOverWithin } = connection(unsent)
    expect(isOverWithin(10, () => each(state))).toBe(false)
    // And is from when that ends on.
    state.isHeld = false
    expect(isOverWithin(3)).toBe(true)
  })
})
