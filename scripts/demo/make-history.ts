// Gives a new demo its history before the shop runs. A separate process, like `prepare.ts`. It loads its modules while
// the database opens, and starts when it receives the database's address.
import { once } from 'node:events'
import { readConfig } from '../../apps/server/src/infra/config.ts'
import { prepareHistory } from './history/prepare.ts'
import { NO_HISTORY, readSettings } from './settings.ts'

export type HistoryOrder = { databaseUrl: string }

async function makeIt(): Promise<number> {
  const told = once(process, 'message')
  process.channel?.ref()
  const [{ databaseUrl }] = (await told) as [HistoryOrder]
  const config = readConfig({ ...process.env, DATABASE_URL: databaseUrl })
  return (await prepareHistory({ config, settings: readSettings(process.env) })) ? 0 : NO_HISTORY
}

makeIt().then(
  code => process.exit(code),
  (error: unknown) => {
    console.error(error)
    process.exit(1)
  }
)
