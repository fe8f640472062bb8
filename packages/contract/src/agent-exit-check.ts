/** Whether answers come back to addresses of a range: what a node agent is asked, and says. */
import { z } from 'zod'

/** What became of a connection. `refused` is an answer, too; `no_egress`: the system lets nothing leave from that address. */
export const DIALLED = ['connected', 'refused', 'silent', 'unreachable', 'no_egress', 'not_found'] as const
export type Dialled = (typeof DIALLED)[number]

/**
 * `reachable`: an answer came back. `no_neighbour`: only to the server's own address, so that nothing brings answers to the range.
 * `no_egress`: see `DIALLED`. `no_network`: none came to the server's own address either.
 */
export const EXIT_VERDICTS = ['reachable', 'no_neighbour', 'no_egress', 'no_network'] as const
export type ExitVerdict = (typeof EXIT_VERDICTS)[number]

const target = z.object({ host: z.string().regex(/^[A-Za-z0-9.:_-]{1,253}$/), port: z.int().min(1).max(65_535) })
export type ExitTarget = z.infer<typeof target>

/** Body of `POST /api/check-exit`: a range of the agent's own, and where to connect to from an address of it. */
export const agentExitCheck = z.object({ prefix: z.string().max(64), targets: z.array(target).min(1).max(5) })

export const agentExitReply = z.object({
  prefix: z.string(),
  /** The address of the range that was tried, by chance. */
  address: z.string().regex(/^[0-9a-f:.]{1,45}$/),
  verdict: z.enum(EXIT_VERDICTS),
  /** `found` from that address, `own` from the server's own. */
  results: z.array(z.object({ target: z.string().max(300), found: z.enum(DIALLED), own: z.enum(DIALLED) })).max(5)
})
export type AgentExitReply = z.infer<typeof agentExitReply>
