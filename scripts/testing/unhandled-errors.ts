import { writeFileSync } from 'node:fs'
import type { Reporter } from 'vitest/node'

/** Names the file that the reporter writes to. */
export const UNHANDLED_ERRORS_FILE = 'NETLET_UNHANDLED_ERRORS'

/**
 * A reporter of Vitest that writes the messages of errors that no test caught, as a JSON array: they fail a run, and
 * the JSON report leaves them out.
 */
export default class UnhandledErrors implements Reporter {
  onTestRunEnd: NonNullable<Reporter['onTestRunEnd']> = (_modules, errors) => {
    const file = process.env[UNHANDLED_ERRORS_FILE]
    if (file) writeFileSync(file, JSON.stringify(errors.map(({ stack, message }) => stack ?? message)))
  }
}
