// The client of the benchmark, a separate process: drives a proxy for a while and reports its throughput. It uses the
// agent's own fast sockets, so that it is not the bottleneck.
import { handleSockets } from '../../apps/agent/src/proxy/handle-sockets.ts'
import type { RawSocket, RawSocketOwner } from '../../apps/agent/src/proxy/socket-types.ts'

export type Job = {
  kind: 'tunnels' | 'requests' | 'bytes' | 'idle' | 'pings'
  /** The proxy's addresses, used in turn. */
  addresses: string[]
  port: number
  target: number
  auth: string
  /** Replaces `auth` with one for each address. */
  auths?: string[]
  concurrency: number
  ms: number
  /** Number of tunnels after which it ends, regardless of the time. */
  count?: number
}
export type Report = { count: number; seconds: number; p50: number; p99: number; max: number; errors: number }

/** Connects to the proxy's next address. `owner` receives later events, `failed` a refusal. */
function open(job: Job, n: number, first: string, owner: Partial<RawSocketOwner>, failed: () => void): void {
  const host = job.addresses[n % job.addresses.length] ?? ''
  // From 128 addresses: with one, finding a free port would take longer than the proxying.
  const from = `127.251.0.${1 + (n & 127)}`
  const rawSocket: RawSocket = handleSockets.connect(host, job.port, 4, from, code => {
    if (code !== null) {
      rawSocket.destroy()
      return failed()
    }
    rawSocket.start({ ...silent, ...owner })
    rawSocket.write(first)
  })
}
const silent: RawSocketOwner = {
  socketData: () => {},
  socketEnd: () => {},
  socketDrained: () => {},
  socketClosed: () => {}
}

function connectHead({ target, auth, auths, addresses }: Job, n: number): string {
  const own = auths?.[n % addresses.length] ?? auth
  return `CONNECT 127.0.0.1:${target} HTTP/1.1\r\nHost: 127.0.0.1:${target}\r\nProxy-Authorization: ${own}\r\n\r\n`
}

/** Opens a tunnel and calls `ready` with its socket once the proxy accepts; `data` receives what arrives. */
function tunnel(
  job: Job,
  n: number,
  ready: (rawSocket: RawSocket) => void,
  data: (rawSocket: RawSocket, chunk: Buffer) => void,
  failed: () => void
): void {
  let head: string | null = ''
  const broken = (rawSocket: RawSocket): void => {
    rawSocket.destroy()
    if (head !== null) failed()
  }
  const socketData = (rawSocket: RawSocket, chunk: Buffer): void => {
    if (head === null) return data(rawSocket, chunk)
    head += chunk.toString('latin1')
    if (!head.includes('\r\n\r\n')) return
    if (!head.startsWith('HTTP/1.1 200')) return broken(rawSocket)
    head = null
    ready(rawSocket)
  }
  open(job, n, connectHead(job, n), { socketData, socketEnd: broken, socketClosed: broken }, failed)
}

function report(times: number[], count: number, startedAt: number, errors: number): Report {
  const sorted = Float64Array.from(times).toSorted()
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return { count, seconds: (performance.now() - startedAt) / 1000, p50: at(0.5), p99: at(0.99), max: at(1), errors }
}

/** Opens a tunnel, sends one byte through it and back, closes; repeats on each of `concurrency` lanes. */
function tunnels(job: Job): Promise<Report> {
  const startedAt = performance.now()
  const until = startedAt + job.ms
  const times: number[] = []
  let errors = 0
  let serial = 0
  const lane = (): Promise<void> =>
    new Promise(resolve => {
      const next = (): void => {
        const began = performance.now()
        if (began > until || serial >= (job.count ?? Infinity)) return resolve()
        const failed = (): void => {
          errors++
          setTimeout(next, 10)
        }
        const echoed = (rawSocket: RawSocket): void => {
          times.push(performance.now() - began)
          rawSocket.destroy()
          // Not within the read callback.
          setImmediate(next)
        }
        tunnel(job, serial++, rawSocket => rawSocket.write('x'), echoed, failed)
      }
      next()
    })
  return Promise.all(Array.from({ length: job.concurrency }, lane)).then(() =>
    report(times, times.length, startedAt, errors)
  )
}

/** Sends requests one after another on each of `concurrency` keep-alive connections. */
async function requests(job: Job): Promise<Report> {
  const head =
    `GET http://127.0.0.1:${job.target}/index.html HTTP/1.1\r\nHost: 127.0.0.1:${job.target}\r\n` +
    `Proxy-Authorization: ${job.auth}\r\nUser-Agent: bench\r\nAccept: */*\r\nProxy-Connection: keep-alive\r\n\r\n`
  const startedAt = performance.now()
  const times: number[] = []
  let errors = 0
  const lane = (n: number): Promise<void> =>
    new Promise(resolve => {
      let began = performance.now()
      let seen = ''
      const broken = (): void => {
        errors++
        resolve()
      }
      const socketData = (rawSocket: RawSocket, chunk: Buffer): void => {
        seen += chunk.toString('latin1')
        const end = seen.indexOf('\r\n\r\n')
        if (end < 0 || seen.length < end + 4 + 512) return
        if (!seen.startsWith('HTTP/1.1 200')) errors++
        seen = ''
        const now = performance.now()
        times.push(now - began)
        if (now - startedAt > job.ms) {
          rawSocket.destroy()
          return resolve()
        }
        began = now
        rawSocket.write(head)
      }
      open(job, n, head, { socketData, socketEnd: broken, socketClosed: broken }, broken)
    })
  await Promise.all(Array.from({ length: job.concurrency }, (_, n) => lane(n)))
  return report(times, times.length, startedAt, errors)
}

/** Receives as fast as possible on `concurrency` tunnels; the count is bytes. */
async function bytes(job: Job): Promise<Report> {
  let errors = 0
  let count = 0
  const rawSockets = await Promise.all(
    Array.from(
      { length: job.concurrency },
      (_, n) =>
        new Promise<RawSocket | null>(resolve => {
          const failed = (): void => {
            errors++
            resolve(null)
          }
          tunnel(job, n, resolve, (_socket, chunk) => (count += chunk.length), failed)
        })
    )
  )
  count = 0
  const startedAt = performance.now()
  await new Promise(resolve => setTimeout(resolve, job.ms))
  const done = report([], count, startedAt, errors)
  for (const rawSocket of rawSockets) rawSocket?.destroy()
  return done
}

const held: RawSocket[] = []

/** Opens `concurrency` tunnels and keeps them until the process ends. */
async function idle(job: Job): Promise<Report> {
  const startedAt = performance.now()
  let errors = 0
  for (let n = 0; n < job.concurrency; n += 50) {
    const batch = Array.from(
      { length: Math.min(50, job.concurrency - n) },
      (_, i) =>
        new Promise<void>(resolve => {
          const keep = (rawSocket: RawSocket): void => {
            held.push(rawSocket)
            resolve()
          }
          const failed = (): void => {
            errors++
            resolve()
          }
          tunnel(job, n + i, keep, () => {}, failed)
        })
    )
    await Promise.all(batch)
  }
  return report([], held.length, startedAt, errors)
}

/** Sends a byte through one tunnel and back repeatedly, to measure how long a tunnel stalls. */
function pings(job: Job): Promise<Report> {
  const startedAt = performance.now()
  const times: number[] = []
  return new Promise(resolve => {
    let began = performance.now()
    const done = (rawSocket: RawSocket | null): void => {
      rawSocket?.destroy()
      resolve(report(times, times.length, startedAt, rawSocket === null ? 1 : 0))
    }
    const ready = (rawSocket: RawSocket): void => {
      began = performance.now()
      rawSocket.write('x')
    }
    const echoed = (rawSocket: RawSocket): void => {
      const now = performance.now()
      times.push(now - began)
      if (now - startedAt > job.ms) return done(rawSocket)
      setTimeout(() => ready(rawSocket), 1)
    }
    tunnel(job, 0, ready, echoed, () => done(null))
  })
}

const kinds = { tunnels, requests, bytes, idle, pings }
const answer = async (job: Job): Promise<void> => {
  const done = await kinds[job.kind](job)
  process.send?.(done)
}
process.on('message', (job: Job) => {
  void answer(job)
})
process.on('disconnect', () => process.exit(0))
