import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { SpeedLimits } from './speed-limit.ts'

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval'] }))
afterEach(() => void vi.useRealTimers())

/** A connection that always has more to read, one chunk a millisecond. */
function busyReader() {
  const socket = {
    destroyed: false,
    isHeld: false,
    hold: () => (socket.isHeld = true),
    release: () => (socket.isHeld = false)
  }
  return socket
}

/** What a user with 4 Mbit/s gets in 6 s, in Mbit/s. @param offered rate of datagrams */
function split(offered: number, { isReading }: { isReading: boolean }) {
  const { down } = new SpeedLimits().of('u', 4)
  const socket = busyReader()
  let [datagrams, read, due] = [0, 0, 0]
  if (isReading) down.begin(socket)
  for (let ms = 0; ms < 6000; ms++) {
    vi.advanceTimersByTime(1)
    due += offered * 125
    for (; due >= 1200; due -= 1200) if (down.takeNow(1200)) datagrams += 1200
    if (isReading && !socket.isHeld) {
      read += 8192
      down.take(socket, 8192)
    }
  }
  return { datagrams: datagrams / 750_000, read: read / 750_000 }
}

test('datagrams above the speed leave half of it to connections, and connections leave half to datagrams', () => {
  for (const offered of [3, 6, 12]) {
    const { datagrams, read } = split(offered, { isReading: true })
    expect(read).toBeGreaterThan(1.7)
    expect(datagrams).toBeGreaterThan(1.7)
    expect(read + datagrams).toBeLessThan(4.5)
  }
})

test('datagrams get the whole speed while no connection waits, and connections get what datagrams leave', () => {
  expect(split(6, { isReading: false }).datagrams).toBeGreaterThan(3.8)
  const { datagrams, read } = split(1, { isReading: true })
  expect(datagrams).toBeGreaterThan(0.95)
  expect(read).toBeGreaterThan(2.8)
})
