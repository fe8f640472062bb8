import { setTimeout as sleep } from 'node:timers/promises'
import type { ProvisioningSaid } from '@netlet/contract'
import { createAgentClient, type AgentAddress, type AgentClient } from '../../integrations/agent/index.ts'
import { endOf, startOf } from '../../infra/text.ts'
import type { Found, RowUpdates, InstallContext } from './installation-types.ts'
import { type Layout, quote } from './layout.ts'
import { type Machine, StepFailed } from './machine.ts'
import { switchTo } from './releases.ts'
import { handsOverToOurs, programIn, type Program } from '../servers/index.ts'

/** How long a running agent may take to hand over: 60 s until the new one is ready, and the hand-over itself. */
const TAKEOVER_MS = 90_000

/** The new program did not become ready. The previous one still serves. */
export class TakeoverFailed extends StepFailed {
  override name = 'TakeoverFailed'
}

/**
 * Starts a release, and waits until it answers. If another release runs, its agent hands the tunnels over; if
 * it cannot, because it is older or has another takeover format, it is restarted.
 * @returns how it runs
 */
export async function startAgent(
  context: InstallContext,
  updates: Pick<RowUpdates, 'markUnserved'>,
  release: { folder: string; isOtherService: boolean; certificate: string | null; version: string | null }
): Promise<ProvisioningSaid[]> {
  const { machine, layout, found, installation, progress, good } = context
  const { folder, isOtherService, certificate, version } = release
  const { systemd } = found
  await progress.step('start', 'Starts the agent')
  const address = { ...installation.address, certificate }
  const { running } = installation
  const canTakeOver = installation.settingsOnly || handsOverToOurs(running?.program ?? null)
  // systemd fixes what a service may do when its first process starts.
  const handingOver = systemd && good?.runs && !isOtherService && canTakeOver && running?.program
  const alreadyRuns = good?.runs && folder === good.folder
  // Another installation may have taken the release for a leftover.
  await machine.run(`cd ${quote(folder)} && ls bin/node bin/agent.mjs agent.env`)
  context.mayHaveStopped = !alreadyRuns
  if (!alreadyRuns) await updates.markUnserved()
  await switchTo(machine, layout, { folder, systemd, start: alreadyRuns ? null : handingOver ? 'reload' : 'restart' })
  if (!alreadyRuns && running && handingOver) {
    await waitForTakeover(handingOver, [createAgentClient(address, 3000), running.agent], progress.signal)
  }

  await progress.step('wait', 'Waits for the agent to respond')
  await waitForAnswer(machine, address, {
    version,
    waitMs: installation.waitMs,
    signal: progress.signal,
    readLog: () => tailLog(machine, layout, found)
  })
  return [
    systemd ? { code: 'runs_as_service', params: {} } : { code: 'runs_alone', params: { command: layout.control } },
    ...(running !== null && !alreadyRuns
      ? [{ code: handingOver ? 'taken_over' : 'restarted', params: {} } as const]
      : [])
  ]
}

/** @param agents the agent by its new and by its previous settings, which count until the take-over */
async function waitForTakeover(
  before: NonNullable<Program>,
  agents: readonly AgentClient[],
  signal: AbortSignal
): Promise<void> {
  const deadline = performance.now() + TAKEOVER_MS
  while (performance.now() < deadline) {
    for (const agent of agents) {
      const info = await agent.info()
      const outcome = outcomeOf(before, info.ok ? programIn(info.data) : null)
      if (outcome.kind === 'done') return
      if (outcome.kind === 'failed')
        throw new TakeoverFailed('takeover_failed', { reason: startOf(outcome.reason, 500) })
    }
    signal.throwIfAborted()
    await sleep(500)
  }
  // What serves now is unknown, so what last worked is restored and restarted.
  throw new StepFailed('takeover_failed', { reason: `nothing came of it within ${TAKEOVER_MS / 1000} s` })
}

/** @param version the version that must answer; another one is the previous program, which still runs. Null: any */
async function waitForAnswer(
  machine: Machine,
  address: AgentAddress,
  options: { version: string | null; waitMs: number; signal: AbortSignal; readLog: () => Promise<string> }
): Promise<void> {
  const { version, waitMs, signal, readLog } = options
  const deadline = performance.now() + waitMs
  const ask = async (client: AgentClient) => {
    const info = await client.info()
    if (!info.ok) return info.message
    const runningVersion = info.data.health?.version
    return version === null || runningVersion === undefined || runningVersion === version
      ? null
      : `version ${runningVersion} still runs`
  }
  const client = createAgentClient(address, 3000)
  for (;;) {
    const problem = await ask(client)
    if (problem === null) return
    signal.throwIfAborted()
    if (performance.now() < deadline) {
      await sleep(200)
      continue
    }
    const inside = await ask(createAgentClient({ ...address, dial: () => machine.dial(address.port) }, 3000))
    if (inside === null) throw new StepFailed('port_closed', { address: `${address.host}:${address.port}`, problem })
    throw new StepFailed('no_answer', { problem: inside, log: await readLog() })
  }
}

/** The end of the agent's log. */
export async function tailLog(machine: Machine, layout: Layout, found: Pick<Found, 'systemd'>): Promise<string> {
  const { stdout } = await machine.attempt(
    found.systemd ? 'journalctl -u netlet-agent -n 5 --no-pager -o cat' : `tail -n 5 ${quote(layout.log)}`
  )
  return endOf(stdout.trim(), 600)
}

/**
 * The result of asking an agent to hand over to the installed program.
 * @param now what answers now; null: nothing, as during the hand-over
 */
export function outcomeOf(
  before: NonNullable<Program>,
  now: Program
): { kind: 'waits' | 'done' } | { kind: 'failed'; reason: string } {
  if (now === null) return { kind: 'waits' }
  if (now.program_started_at !== before.program_started_at) return { kind: 'done' }
  const { state, at, reason } = now.takeover
  const isNew = state === 'failed' && at !== before.takeover.at
  return isNew ? { kind: 'failed', reason: reason ?? '' } : { kind: 'waits' }
}
