import type { AgentExitReply, Dialled, ExitTarget, ExitVerdict } from '@netlet/contract/agent-exit-check'
import { randomBytes } from 'node:crypto'
import { connect } from 'node:net'
import { formatAddress, type Prefix } from './ip.ts'

/** Longer than the 3 seconds after which the kernel gives up on a silent neighbour. */
const WAIT_MS = 5000

/** A random address of a range. In IPv6 never ::0 (the routers') or ::1 (the proxy's own) of a /64. */
export function anyAddress({ family, first, last }: Prefix): string {
  const size = last - first + 1n
  const drawn = first + (BigInt(`0x${randomBytes(16).toString('hex')}`) % size)
  const low = drawn & 0xffff_ffff_ffff_ffffn
  return formatAddress(family, family === 6 && low < 2n && drawn + 2n <= last ? drawn + 2n : drawn)
}

/**
 * Connects to each target from a random address of the range and, to compare, from the server's own. This shows whether
 * answers reach addresses that no interface has: by a route to this server, or because something answers neighbour requests.
 */
export async function checkExit(prefix: Prefix, targets: readonly ExitTarget[]): Promise<AgentExitReply> {
  const from = anyAddress(prefix)
  const results = await Promise.all(
    targets.map(async ({ host, port }) => {
      const where = { host, port, family: prefix.family }
      const [found, own] = await Promise.all([dialled({ ...where, localAddress: from }), dialled(where)])
      return { target: host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`, found, own }
    })
  )
  return { prefix: prefix.text, address: from, verdict: verdictOf(results), results }
}

const answers = (found: Dialled): boolean => found === 'connected' || found === 'refused'

/** The overall verdict. Any answer, even a refusal, proves that the range works. */
export function verdictOf(results: AgentExitReply['results']): ExitVerdict {
  if (results.some(({ found }) => answers(found))) return 'reachable'
  if (results.some(({ found }) => found === 'no_egress')) return 'no_egress'
  return results.some(({ own }) => answers(own)) ? 'no_neighbour' : 'no_network'
}

function dialled(where: { host: string; port: number; family: number; localAddress?: string }): Promise<Dialled> {
  return new Promise(resolve => {
    const socket = connect({ ...where, autoSelectFamily: false })
    const end = (found: Dialled): void => {
      clearTimeout(timer)
      socket.destroy()
      resolve(found)
    }
    const timer = setTimeout(() => end('silent'), WAIT_MS)
    socket.once('connect', () => end('connected'))
    socket.on('error', (error: NodeJS.ErrnoException) => end(byCode[error.code ?? ''] ?? 'unreachable'))
  })
}

const byCode: Record<string, Dialled> = {
  ECONNREFUSED: 'refused',
  ECONNRESET: 'refused',
  ETIMEDOUT: 'silent',
  EADDRNOTAVAIL: 'no_egress',
  ENOTFOUND: 'not_found',
  EAI_AGAIN: 'not_found',
  ENODATA: 'not_found'
}
