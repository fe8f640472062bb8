// Gives a new demo its history, before anything else of the shop runs. A process of its own, as `prepare.ts` is.
import { readConfig } from '../../apps/server/src/infra/config.ts'
import { prepareHistory } from './history/prepare.ts'
import { NO_HISTORY, readSettings } from './settings.ts'

prepareHistory({ config: readConfig(process.env), settings: readSettings(process.env) }).then(
  made => process.exit(made ? 0 : NO_HISTORY),
  (error: unknown) => {
    console.error(error)
    process.exit(1)
  }
)
