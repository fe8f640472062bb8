import { expect, test } from 'vitest'
import { handleSockets } from './handle-sockets.ts'
import type { Sockets } from './socket-types.ts'
import { streamSockets } from './stream-sockets.ts'
import { usableSockets } from './usable-sockets.ts'

test('this Node’s bare handles are used, and a setting decides without a probe', async () => {
  expect(await usableSockets('auto')).toEqual({ sockets: handleSockets, problem: null })
  expect((await usableSockets('streams')).sockets).toBe(streamSockets)
  const gone: Sockets = {
    ...handleSockets,
    connect: () => {
      throw new TypeError('tcp.TCP is not a constructor')
    }
  }
  expect((await usableSockets('handles', gone)).sockets).toBe(gone)
})

const broken: Record<string, Partial<Sockets>> = {
  'that do not exist': {
    connect: () => {
      throw new TypeError('tcp.TCP is not a constructor')
    }
  },
  'that throw in a callback': {
    createServer: () =>
      streamSockets.createServer(() => {
        throw new TypeError('onconnection is not what it was')
      })
  },
  'that connect to the wrong port': {
    connect: (_host, _port, family, from, done) => handleSockets.connect('127.0.0.1', 1, family, from, done)
  },
  'that lose written bytes': {
    connect: (...args) => {
      const made = handleSockets.connect(...args)
      const write = made.write.bind(made)
      made.write = data => write(data.slice(1))
      return made
    }
  },
  'whose reset is an end': {
    createServer: accepted =>
      handleSockets.createServer(made => {
        made.reset = () => made.closeWhenSent()
        accepted(made)
      })
  }
}

test.for(Object.entries(broken))('handles %s are rejected with a reason', async ([, parts]) => {
  const { sockets, problem } = await usableSockets('auto', { ...handleSockets, ...parts }, 500)
  expect(sockets).toBe(streamSockets)
  expect(problem).not.toBe(null)
  expect(process.hasUncaughtExceptionCaptureCallback()).toBe(false)
})
