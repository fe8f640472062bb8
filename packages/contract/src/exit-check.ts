/** The console's call that checks a server's IPv6 ranges. */
import { z } from 'zod'
import { message } from './form-messages.ts'
import { route } from './route.ts'
import { IdParams } from './shapes.ts'

/** The check whether replies reach addresses of a range, between console and agent. */

/** The result of a connection attempt. `refused` is a reply too. `no_egress`: the system cannot send from there. */
export const DIALLED = ['connected', 'refused', 'silent', 'unreachable', 'no_egress', 'not_found'] as const
export type Dialled = (typeof DIALLED)[number]

/**
 * `reachable`: a reply arrived. `no_neighbour`: only the server's own address gets replies, so nothing routes the range
 * to it. `no_egress`: see `DIALLED`. `no_network`: the server's own address gets none either.
 */
export const EXIT_VERDICTS = ['reachable', 'no_neighbour', 'no_egress', 'no_network'] as const
export type ExitVerdict = (typeof EXIT_VERDICTS)[number]

const target = z.object({ host: z.string().regex(/^[A-Za-z0-9.:_-]{1,253}$/), port: z.int().min(1).max(65_535) })
export type ExitTarget = z.infer<typeof target>

/** Body of `POST /api/check-exit`: a range of the agent, and targets to connect to from it. */
export const agentExitCheck = z.object({ prefix: z.string().max(64), targets: z.array(target).min(1).max(5) })

export const agentExitReply = z.object({
  prefix: z.string(),
  /** A random address of the range, used for the check. */
  address: z.string().regex(/^[0-9a-f:.]{1,45}$/),
  verdict: z.enum(EXIT_VERDICTS),
  /** `found` from that address, `own` from the server's own. */
  results: z.array(z.object({ target: z.string().max(300), found: z.enum(DIALLED), own: z.enum(DIALLED) })).max(5)
})
export type AgentExitReply = z.infer<typeof agentExitReply>

/** `host:port`, IPv6 in brackets. Empty: the sites that proxies are checked with. */
export const CheckIpv6Form = z.object({
  target: z
    .string()
    .trim()
    .max(260, message('at_most_characters', { max: 260 }))
    .regex(/^(?:(?:\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+):\d{1,5})?$/, message('enter_target'))
    .default('')
})

/** Results by range; `more` ranges were not checked. */
export const Ipv6Check = z.object({ checks: z.array(agentExitReply), more: z.number() })
export type Ipv6Check = z.infer<typeof Ipv6Check>

export const exitCheck = {
  checkIpv6: route('POST', '/api/servers/servers/:id/check_ipv6/', {
    summary: "Test a server's IPv6 ranges with a connection from one address of each",
    access: 'admin',
    permission: 'servers.change',
    params: IdParams,
    body: CheckIpv6Form.optional(),
    reply: Ipv6Check
  })
}
