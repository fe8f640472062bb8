import { connect } from 'node:net'

export type Load = { requests: number; seconds: number; p99: number }

/**
 * Requests a page repeatedly on keep-alive connections, one request at a time on each. It parses only a reply's length,
 * because the client shares the machine with the server.
 */
export async function drive(options: { port: number; path: string; connections: number; ms: number }): Promise<Load> {
  const { port, path, connections, ms } = options
  const head = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAccept: application/json\r\n\r\n`
  const start = performance.now()
  const until = start + ms
  const times: number[] = []

  const lane = () =>
    new Promise<void>((resolve, reject) => {
      const socket = connect({ host: '127.0.0.1', port, noDelay: true })
      let asked = 0
      let expected = -1
      let read = 0
      const ask = () => {
        asked = performance.now()
        if (asked >= until) return socket.end(() => resolve())
        expected = -1
        read = 0
        socket.write(head)
      }
      socket.on('connect', ask)
      socket.on('error', reject)
      socket.on('data', chunk => {
        if (expected < 0) {
          const end = chunk.indexOf('\r\n\r\n')
          const text = chunk.toString('latin1', 0, end)
          const length = /^HTTP\/1\.1 200 [\s\S]*\r\ncontent-length: (\d+)/i.exec(text)?.[1]
          if (end < 0 || length === undefined) return void socket.destroy(new Error(`unexpected reply: ${text}`))
          expected = Number(length)
          read = chunk.length - end - 4
        } else read += chunk.length
        if (read < expected) return
        times.push(performance.now() - asked)
        ask()
      })
    })
  await Promise.all(Array.from({ length: connections }, lane))
  const sorted = times.toSorted((a, b) => a - b)
  return {
    requests: times.length,
    seconds: (performance.now() - start) / 1000,
    p99: sorted[Math.floor(sorted.length * 0.99)] ?? Number.NaN
  }
}
