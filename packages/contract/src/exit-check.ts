/** The console's call that checks a server's IPv6 ranges. */
import { z } from 'zod'
import { agentExitReply } from './agent-exit-check.ts'
import { message } from './form-messages.ts'
import { route } from './route.ts'
import { IdParams } from './shapes.ts'

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
    summary: "Whether answers come back to addresses of a server's IPv6 ranges, by a connection from one of each",
    access: 'admin',
    permission: 'servers.change',
    params: IdParams,
    body: CheckIpv6Form.optional(),
    reply: Ipv6Check
  })
}
