import { message, refuse, type Ipv6Check } from '@netlet/contract'
import type { ExitTarget } from '@netlet/contract/agent-exit-check'
import { formRefusal } from '../../infra/refusals.ts'
import { ok, type Result } from '../../infra/result.ts'
import { serverCidrs } from '../inventory/index.ts'
import { agentOf, type SyncContext } from './agents.ts'
import { refusedByAgent, unreachable } from './manage.ts'
import { readServerRow } from './server-row.ts'

/** Ranges that one check tries. Each opens some connections, and the slowest range decides how long the check takes. */
const MOST_RANGES = 8

/**
 * Has a server's agent connect from an address of each of its IPv6 ranges, to see whether replies come back.
 * @param target `host:port`; if empty, `sites` are used
 */
export async function checkIpv6(
  ctx: SyncContext,
  serverId: number,
  target: string,
  sites: readonly string[]
): Promise<Result<Ipv6Check>> {
  const server = await readServerRow(ctx.db, serverId)
  if (!server) return refuse('not_found')
  const targets = target === '' ? sites.flatMap(siteTarget) : asTarget(target)
  if (targets.length === 0) return formRefusal({ target: message('enter_target') })
  const ranges = (await serverCidrs(ctx.db, serverId)).filter(range => range.includes(':'))
  if (ranges.length === 0) return refuse('no_ipv6_ranges')
  const agent = agentOf(server, ctx.secrets)
  const replies = await Promise.all(
    ranges.slice(0, MOST_RANGES).map(prefix => agent.checkExit({ prefix, targets: targets.slice(0, 5) }))
  )
  const checks: Ipv6Check['checks'] = []
  for (const reply of replies) {
    if (!reply.ok) return reply.kind === 'refused' ? refusedByAgent(reply.message) : unreachable(reply.message)
    checks.push(reply.data)
  }
  return ok({ checks, more: ranges.length - checks.length })
}

function asTarget(text: string): ExitTarget[] {
  const at = text.lastIndexOf(':')
  const port = Number(text.slice(at + 1))
  const host = text.slice(0, at).replace(/^\[(.*)\]$/, '$1')
  return port >= 1 && port <= 65_535 ? [{ host, port }] : []
}

function siteTarget(site: string): ExitTarget[] {
  if (!URL.canParse(site)) return []
  const { hostname, port, protocol } = new URL(site)
  return asTarget(`${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`)
}
