import { setTimeout as sleep } from 'node:timers/promises'
import { createAgentClient } from '../../integrations/agent/index.ts'
import type { RowUpdates, InstallContext } from './installation-types.ts'
import { ConnectionLost, type Machine, StepFailed } from './machine.ts'
import { readConnection, type AgentConnection } from './machine-settings.ts'
import { switchTo, type GoodRelease } from './releases.ts'
import { TakeoverFailed, tailLog } from './start-agent.ts'

/** How long the previous agent may take to listen again. */
const ANSWERS_AGAIN_MS = 30_000

/** Seconds before each reconnection to a machine whose connection broke. */
const REDIAL_S = [1, 3, 10, 30]

/**
 * Goes back to the last good release, if there is one and this installation may have stopped its program.
 * @throws StepFailed with the reason, and what runs now
 */
export async function rollBackInstallation(
  context: InstallContext,
  updates: RowUpdates,
  reason: StepFailed
): Promise<never> {
  const { good, mayHaveStopped } = context
  if (good === null || !mayHaveStopped) throw reason
  const { message: problem } = reason
  try {
    await onMachine(context, machine => goBack(machine, context, good, updates, reason))
  } catch (error) {
    if (!(error instanceof StepFailed)) throw error
    throw new StepFailed('rollback_failed', { problem, also: error.message })
  }
  await updates.markServed()
  throw new StepFailed('rolled_back', { problem })
}

/** Does this on the machine. If the connection breaks, it reconnects and does all of it again. */
async function onMachine<T>(
  { machine: first, installation, progress: { signal, print } }: InstallContext,
  work: (machine: Machine) => Promise<T>
): Promise<T> {
  let machine = first
  for (const seconds of REDIAL_S) {
    try {
      return await work(machine)
    } catch (error) {
      if (!(error instanceof ConnectionLost)) throw error
      print(`${error.message}\nConnects again in ${seconds} s`)
      await sleep(seconds * 1000, undefined, { signal })
      // If the reconnection fails, the next round fails too and retries.
      machine = await installation.redial().catch((problem: unknown) => {
        if (!(problem instanceof StepFailed)) throw problem
        print(problem.message)
        return machine
      })
    }
  }
  return work(machine)
}

async function goBack(
  machine: Machine,
  context: InstallContext,
  { folder }: GoodRelease,
  { restoreConnection }: RowUpdates,
  reason: StepFailed
): Promise<void> {
  const { layout, found, progress } = context
  progress.print('Restoring the last good release and its settings')
  // If the takeover failed, the previous program never stopped. Its tunnels are not cut.
  const start = reason instanceof TakeoverFailed ? null : 'restart'
  await switchTo(machine, layout, { folder, systemd: found.systemd, start })
  const connection = await readConnection(machine, layout)
  // At once, so that a cancellation from now on leaves a row that matches the agent.
  if (connection) await restoreConnection(connection)
  else progress.print('The restored settings do not say how the agent is reached')
  await waitUntilAnswers(machine, context, connection)
}

/**
 * Asks the agent over the console's usual way. An SSH channel is only another sign of life: sshd may forbid forwarding,
 * or the agent may listen on one address only, so a refused channel says nothing.
 */
async function waitUntilAnswers(
  machine: Machine,
  context: InstallContext,
  connection: AgentConnection | null
): Promise<void> {
  const { layout, found, installation, progress } = context
  const { host, port } = installation.address
  const agent = connection
    ? createAgentClient({ ...connection, host, port: connection.agentPort }, 3000)
    : installation.running?.agent
  const acceptsConnection = () =>
    machine.dial(connection?.agentPort ?? port).then(
      channel => {
        channel.destroy()
        return true
      },
      () => false
    )
  for (const deadline = performance.now() + ANSWERS_AGAIN_MS; ; await sleep(200)) {
    const info = await agent?.info()
    if (info?.ok || info?.kind === 'refused' || (await acceptsConnection())) return
    progress.signal.throwIfAborted()
    if (performance.now() < deadline) continue
    const log = await tailLog(machine, layout, found)
    throw new StepFailed('no_answer', { problem: info?.message ?? 'it cannot be reached', log })
  }
}
