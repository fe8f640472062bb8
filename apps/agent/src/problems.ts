import type { AgentProblem } from '@netlet/contract/agent-live'
import type { DnsFigures } from './proxy/plane-figures.ts'
import type { ProcessFigures } from './workers/process-figures.ts'

/** What is looked at to tell what is wrong. */
export type Observed = {
  workers: { now: number; wanted: number }
  /** The last write of the state or of the log failed. */
  isDiskFailing: boolean
  processes: readonly ProcessFigures[]
  routes: ReadonlyArray<{ local: boolean }>
  isCertificateUnread: boolean
  dns: DnsFigures
}

/** From this share of its file handles on a process has few left. */
const HANDLES_SHARE = 0.9
/** Name servers are judged by so many questions, or by those of so long a time. */
const DNS_QUESTIONS = 20
const DNS_WINDOW_MS = 60_000
const DNS_FAILURES_SHARE = 0.5

/** Tells what is wrong with an agent. It remembers how many questions name servers were asked a while ago. */
export class Problems {
  #dns = { at: -Infinity, lookups: 0, failures: 0 }
  #isDnsFailing = false

  find({ workers, isDiskFailing, processes, routes, isCertificateUnread, dns }: Observed, now: number): AgentProblem[] {
    this.#judgeDns(dns, now)
    const found: Record<AgentProblem, boolean> = {
      worker_missing: workers.now < workers.wanted,
      disk_not_writable: isDiskFailing,
      handles_low: processes.some(({ handles }) => handles.limit > 0 && handles.used > handles.limit * HANDLES_SHARE),
      loop_slow: processes.some(({ isSlow }) => isSlow),
      routes_missing: routes.some(({ local }) => !local),
      dns_failing: this.#isDnsFailing,
      certificate_unreadable: isCertificateUnread
    }
    return (Object.keys(found) as AgentProblem[]).filter(code => found[code])
  }

  #judgeDns({ lookups, failures }: DnsFigures, now: number): void {
    const asked = lookups - this.#dns.lookups
    const isFirst = this.#dns.at === -Infinity
    if (!isFirst && asked < DNS_QUESTIONS && now - this.#dns.at < DNS_WINDOW_MS) return
    this.#isDnsFailing = asked >= DNS_QUESTIONS && (failures - this.#dns.failures) / asked >= DNS_FAILURES_SHARE
    this.#dns = { at: now, lookups, failures }
  }
}
