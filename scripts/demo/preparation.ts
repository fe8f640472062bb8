import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { StartProblem, type DemoSettings } from './settings.ts'

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
