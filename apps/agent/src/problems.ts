import type { AgentProblem } from '@netlet/contract/agent-live'
import type { DnsFigures } from './proxy/plane-figures.ts'
import type { ProcessFigures } from './workers/process-figures.ts'

/** Input of `findProblems`. */
export type Observed = {
  workers: { now: number; wanted: number }
  /** The last write of a file in the agent's folder failed. */
  isDiskFailing: boolean
  processes: readonly ProcessFigures[]
  routes: ReadonlyArray<{ local: boolean }>
  isCertificateUnread: boolean
  dns: DnsFigures
}

/** Above this share of its file handles, a process has few left. */
const HANDLES_SHARE = 0.9

/** The problems of an agent, for `/healthz` and the console. */
export function findProblems(observed: Observed): AgentProblem[] {
  const { workers, isDiskFailing, processes, routes, isCertificateUnread, dns } = observed
  const found: Record<AgentProblem, boolean> = {
    worker_missing: workers.now < workers.wanted,
    disk_not_writable: isDiskFailing,
    handles_low: processes.some(({ handles }) => handles.limit > 0 && handles.used > handles.limit * HANDLES_SHARE),
    loop_slow: processes.some(({ isSlow }) => isSlow),
    routes_missing: routes.some(({ local }) => !local),
    dns_failing: dns.failing > 0,
    certificate_unreadable: isCertificateUnread
  }
  return (Object.keys(found) as AgentProblem[]).filter(code => found[code])
}
