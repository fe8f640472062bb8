import type { FastifyReply } from 'fastify'
import { Transform, type Readable } from 'node:stream'

const MIB = 1024 * 1024
/** Bytes of bodies that strangers may hold in one process, and one client's share of them: two of the largest. */
const BUDGET = { all: 64 * MIB, client: 16 * MIB }

type Body = { client: string; bytes: number; stream: Transform }

/**
 * Bounds the memory for bodies of callers without a session. If too many bytes are held, it ends the oldest body of the
 * client that holds most: one that never arrives in full makes room for those that do.
 * @returns counts a body until its reply has been sent
 */
export function openBodyBudget(budget: { all: number; client: number } = BUDGET) {
  /** Oldest first. */
  const bodies = new Set<Body>()
  const sizes = new Map<string, number>()
  let all = 0

  function add({ client }: Body, bytes: number): void {
    all += bytes
    const size = (sizes.get(client) ?? 0) + bytes
    if (size > 0) sizes.set(client, size)
    else sizes.delete(client)
  }

  function release(body: Body): void {
    if (!bodies.delete(body)) return
    add(body, -body.bytes)
  }

  function end(body: Body): void {
    release(body)
    body.stream.destroy(Object.assign(new Error('Too many bodies arrive too slowly'), { statusCode: 408 }))
  }

  const oldestOf = (client: string): Body | undefined => [...bodies].find(body => body.client === client)

  function makeRoom(client: string): void {
    while ((sizes.get(client) ?? 0) > budget.client || all > budget.all) {
      const most = [...sizes].reduce((a, b) => (b[1] > a[1] ? b : a))[0]
      const oldest = oldestOf((sizes.get(client) ?? 0) > budget.client ? client : most)
      if (!oldest) return
      end(oldest)
    }
  }

  return (client: string, reply: FastifyReply, payload: Readable): Readable => {
    const stream = new Transform({
      transform(chunk: Buffer, _encoding, next) {
        body.bytes += chunk.length
        if (bodies.has(body)) add(body, chunk.length)
        makeRoom(client)
        next(null, chunk)
      }
    })
    const body: Body = { client, bytes: 0, stream }
    bodies.add(body)
    reply.raw.once('close', () => release(body))
    payload.once('error', error => stream.destroy(error))
    // Fastify listens only while it reads. After a refusal the client may still break off.
    stream.on('error', () => {})
    return payload.pipe(stream)
  }
}
