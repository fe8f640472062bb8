import { setTimeout as sleep } from 'node:timers/promises'
import { startEmbeddedPostgres } from '../../apps/server/src/infra/postgres/embedded.ts'
import { startOf } from '../../apps/server/src/infra/postgres/processes.ts'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { type DemoSettings, StartProblem } from './settings.ts'

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

/** Increase it if a change of the demo's contents should also reach older folders. */
const PREPARED = 3

/**
 * What earlier starts have done to the database.
 * @param databaseDir of the embedded database. The marks are beside its files and removed with them. null for another
 * database, which is checked each time and gets no history
 * @param url of the shop
 */
export function preparationOf(
  databaseDir: string | null,
  { port, platformPort, agentPort, proxyPort }: Omit<DemoSettings, 'dataDir' | 'secrets'>,
  url: string
) {
  const prepared = JSON.stringify({ version: PREPARED, port, platformPort, agentPort, proxyPort, url })
  const preparedFile = `${databaseDir}/prepared.json`
  const historyFile = `${databaseDir}/history.json`
  const stateOfHistory = (): string | null => (existsSync(historyFile) ? readFileSync(historyFile, 'utf8') : null)

  function write(file: string, text: string): void {
    if (databaseDir === null) return
    try {
      writeFileSync(file, text)
    } catch (error) {
      throw new StartProblem(`${file} cannot be written: ${(error as Error).message}.`)
    }
  }

  return {
    /** Must the history still be made? Folders older than this mark have it or are in use. */
    wantsHistory(): boolean {
      if (databaseDir === null) return false
      const state = stateOfHistory()
      return state === null ? !existsSync(preparedFile) : state !== SETTLED
    },
    /** Until it is settled, each start makes it again. */
    markHistoryBegun: () => write(historyFile, BEGUN),
    /** The history is made, or will not be: not wanted, or the shop is in use without it. */
    markHistorySettled: () => write(historyFile, SETTLED),
    /** Was the database filled by a start with the same addresses? */
    done: () => databaseDir !== null && existsSync(preparedFile) && readFileSync(preparedFile, 'utf8') === prepared,
    markDone: () => write(preparedFile, prepared)
  }
}

const BEGUN = JSON.stringify({ state: 'begun' })
const SETTLED = JSON.stringify({ state: 'settled' })
