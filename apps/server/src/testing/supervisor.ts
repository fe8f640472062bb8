import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'

const main = fileURLToPath(new URL('../main.ts', import.meta.url))
/** As in deploy/systemd, but sooner (ms). */
const RESTART_AFTER = 200

export type Supervised = {
  name: string
  url: string
  signal(signal: NodeJS.Signals): void
  stop(): Promise<void>
}

/** A shop process that is started again whenever it ends, as systemd does it. */
export async function supervise(
  name: string,
  mode: 'serve' | 'worker',
  env: Record<string, string>
): Promise<Supervised> {
  let stopped = false
  let child: ChildProcess

  function launch(): Promise<unknown> {
    child = fork(main, [mode], { env, stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
    child.once('exit', () => {
      if (!stopped) void sleep(RESTART_AFTER).then(() => stopped || launch())
    })
    return Promise.race([once(child, 'message'), once(child, 'exit')])
  }

  await launch()
  return {
    name,
    url: `http://127.0.0.1:${env['PORT']}`,
    signal: signal => void child.kill(signal),
    async stop() {
      stopped = true
      if (child.exitCode !== null || child.signalCode !== null) return
      child.kill('SIGKILL')
      await once(child, 'exit')
    }
  }
}
