import { writeFileSync } from 'node:fs'
import type { Reporter } from 'vitest/node'

/** The environment variable with the file that the reporter writes. */
export const UNHANDLED_ERRORS_FILE = 'NETLET_UNHANDLED_ERRORS'

/** A Vitest reporter that writes uncaught errors as JSON, because the JSON report omits them. */
export default class UnhandledErrors implements Reporter {
  onTestRunEnd: NonNullable<Reporter['onTestRunEnd']> = (_modules, errors) => {
    const file = process.env[UNHANDLED_ERRORS_FILE]
    if (file) writeFileSync(file, JSON.stringify(errors.map(({ stack, message }) => stack ?? message)))
  }
}
