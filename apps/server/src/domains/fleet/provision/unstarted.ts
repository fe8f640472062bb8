import { quote, type Layout } from './layout.ts'
import type { Machine } from './machine.ts'

/**
 * The files that were written since the agent was started last, as `put` with this mark has named them. An installation that
 * broke off in between leaves them: whoever compares files only would take them for what runs.
 */
export async function readUnstarted(machine: Machine, { unstarted }: Layout): Promise<string[]> {
  const { stdout } = await machine.attempt(`cat ${quote(unstarted)} 2> /dev/null`)
  return stdout.split('\n').filter(line => line !== '')
}

/** What is installed was started. */
export const forgetUnstarted = async (machine: Machine, { unstarted }: Layout): Promise<void> => {
  await machine.run(`rm -f ${quote(unstarted)}`)
}
