import { setTimeout as sleep } from 'node:timers/promises'
import { startEmbeddedPostgres } from '../../apps/server/src/infra/postgres/embedded.ts'
import { startOf } from '../../apps/server/src/infra/postgres/processes.ts'

/** Milliseconds between checks that the database runs. */
const LOOK_MS = 1000

export type KeptDatabase = { url: string; port: number; pid: () => number; stop: () => Promise<void> }

/**
 * Starts the embedded database and restarts it when it ends, for example on a full disk. The programs wait for it.
 * @param say prints to the terminal
 */
export async function keepDatabase(dataDir: string, say: (line: string) => void): Promise<KeptDatabase> {
  let postgres = await startEmbeddedPostgres({ dataDir, log: () => {} })
  const { url, port } = postgres
  const stopped = new AbortController()
  const pause = () => sleep(LOOK_MS, undefined, { signal: stopped.signal, ref: false }).catch(() => undefined)

  async function watch(): Promise<void> {
    let told = ''
    const tell = (line: string) => {
      if (line !== told) say(line)
      told = line
    }
    for (;;) {
      await pause()
      if (stopped.signal.aborted) return
      if ((await startOf(postgres.pid)) !== undefined) continue
      tell('The database ended; it is started again.')
      try {
        await postgres.stop()
        const again = await startEmbeddedPostgres({ dataDir, port, log: () => {} })
        postgres = again
        // The programs only know the old port.
        if (again.port !== port) throw new Error(`another program took its port ${port}; start everything again`)
        tell('The database runs again.')
      } catch (error) {
        tell(error instanceof Error ? error.message : String(error))
      }
    }
  }

  const watching = watch()
  return {
    url,
    port,
    pid: () => postgres.pid,
    async stop() {
      stopped.abort()
      await watching
      await postgres.stop()
    }
  }
}
