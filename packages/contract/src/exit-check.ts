/** The check of a server's IPv6 ranges, as the console asks for it. */
import { z } from 'zod'
import { agentExitReply } from './agent-exit-check.ts'
import { message } from './form-messages.ts'
import { route } from './route.ts'
import { IdParams } from './shapes.ts'

/** `host:port`, an IPv6 address in brackets. Empty: the sites that proxies are checked by. */
export const CheckIpv6Form = z.object({
  target: z
    .string()
    .trim()
    .max(260, message('at_most_characters', { max: 260 }))
    .regex(/^(?:(?:\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+):\d{1,5})?$/, message('enter_target'))
    .default('')
})

/** By range; `more` ranges were not looked at. */
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
