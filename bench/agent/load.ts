// The near end of the benchmark, a process of its own: drives a proxy for a while and reports what it managed.
import { connect, type Socket } from 'node:net'

export type Job = {
  kind: 'tunnels' | 'requests' | 'bytes' | 'idle'
  /** The proxy's addresses, used in turn. */
  addresses: string[]
  port: number
  target: number
  auth: string
  concurrency: number
  ms: number
}
export type Report = { count: number; seconds: number; p50: number; p99: number; errors: number }

const open = (job: Job, n: number): Socket =>
  connect({
    host: job.addresses[n % job.addresses.length] ?? '',
    port: job.port,
    noDelay: true,
    autoSelectFamily: false
  })

const connectHead = (job: Job): string =>
  `CONNECT 127.0.0.1:${job.target} HTTP/1.1\r\nHost: 127.0.0.1:${job.target}\r\nProxy-Authorization: ${job.auth}\r\n\r\n`

/** Opens a tunnel and calls back with the socket when the proxy said yes. */
function tunnel(job: Job, n: number, ready: (socket: Socket) => void, failed: () => void): void {
  const socket = open(job, n)
  let head = ''
  const onData = (chunk: Buffer): void => {
    head += chunk.toString('latin1')
    if (!head.includes('\r\n\r\n')) return
    socket.off('data', onData)
    socket.off('close', failed)
    if (head.startsWith('HTTP/1.1 200')) ready(socket)
    else {
      socket.destroy()
      failed()
    }
  }
  socket.on('data', onData)
  socket.on('error', () => socket.destroy())
  socket.once('close', failed)
  socket.write(connectHead(job))
}

function report(times: number[], count: number, startedAt: number, errors: number): Report {
  const sorted = Float64Array.from(times).toSorted()
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0
  return { count, seconds: (performance.now() - startedAt) / 1000, p50: at(0.5), p99: at(0.99), errors }
}

/** Opens a tunnel, sends one byte through it and back, closes; again and again on each of `concurrency` lanes. */
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
        if (began > until) return resolve()
        const failed = (): void => {
          errors++
          setTimeout(next, 10)
        }
        tunnel(
          job,
          serial++,
          socket => {
            socket.once('close', () => next())
            socket.once('data', () => {
              times.push(performance.now() - began)
              socket.destroy()
            })
            socket.write('x')
          },
          failed
        )
      }
      next()
    })
  return Promise.all(Array.from({ length: job.concurrency }, lane)).then(() =>
    report(times, times.length, startedAt, errors)
  )
}

/** Requests one after the other on each of `concurrency` kept connections. */
async function requests(job: Job): Promise<Report> {
  const head = Buffer.from(
    `GET http://127.0.0.1:${job.target}/index.html HTTP/1.1\r\nHost: 127.0.0.1:${job.target}\r\n` +
      `Proxy-Authorization: ${job.auth}\r\nUser-Agent: bench\r\nAccept: */*\r\nProxy-Connection: keep-alive\r\n\r\n`
  )
  const startedAt = performance.now()
  const times: number[] = []
  let errors = 0
  const lane = (n: number): Promise<void> =>
    new Promise(resolve => {
      const socket = open(job, n)
      let began = performance.now()
      let seen = ''
      socket.on('error', () => errors++)
      socket.on('close', () => resolve())
      socket.on('data', (chunk: Buffer) => {
        seen += chunk.toString('latin1')
        const end = seen.indexOf('\r\n\r\n')
        if (end < 0 || seen.length < end + 4 + 512) return
        if (!seen.startsWith('HTTP/1.1 200')) errors++
        seen = ''
        const now = performance.now()
        times.push(now - began)
        if (now - startedAt > job.ms) socket.destroy()
        else {
          began = now
          socket.write(head)
        }
      })
      socket.write(head)
    })
  await Promise.all(Array.from({ length: job.concurrency }, (_, n) => lane(n)))
  return report(times, times.length, startedAt, errors)
}

/** Receives as fast as it comes on `concurrency` tunnels; the count is bytes. */
async function bytes(job: Job): Promise<Report> {
  let errors = 0
  let count = 0
  const sockets = await Promise.all(
    Array.from(
      { length: job.concurrency },
      (_, n) =>
        new Promise<Socket | null>(resolve => {
          const failed = (): void => {
            errors++
            resolve(null)
          }
          tunnel(job, n, resolve, failed)
        })
    )
  )
  const startedAt = performance.now()
  for (const socket of sockets) socket?.on('data', (chunk: Buffer) => (count += chunk.length))
  await new Promise(resolve => setTimeout(resolve, job.ms))
  const done = report([], count, startedAt, errors)
  for (const socket of sockets) socket?.destroy()
  return done
}

const held: Socket[] = []

/** Opens `concurrency` tunnels and keeps them until the process ends. */
async function idle(job: Job): Promise<Report> {
  const startedAt = performance.now()
  let errors = 0
  for (let n = 0; n < job.concurrency; n += 50) {
    const batch = Array.from(
      { length: Math.min(50, job.concurrency - n) },
      (_, i) =>
        new Promise<void>(resolve => {
          const keep = (socket: Socket): void => {
            held.push(socket)
            resolve()
          }
          const failed = (): void => {
            errors++
            resolve()
          }
          tunnel(job, n + i, keep, failed)
        })
    )
    await Promise.all(batch)
  }
  return report([], held.length, startedAt, errors)
}

const kinds = { tunnels, requests, bytes, idle }
const answer = async (job: Job): Promise<void> => {
  const done = await kinds[job.kind](job)
  process.send?.(done)
}
process.on('message', (job: Job) => {
  void answer(job)
})
process.on('disconnect', () => process.exit(0))
