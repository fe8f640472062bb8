import { StartupError } from '../infra/db/migrate.ts'

/** What a person has to solve; the message is one line. */
export class BackupProblem extends StartupError {
  override name = 'BackupProblem'
}

export const reasonOf = (error: unknown): string => {
  if (error instanceof AggregateError) return reasonOf(error.errors[0])
  return (error instanceof Error ? error.message || error.name : String(error)).split('\n')[0] ?? ''
}
