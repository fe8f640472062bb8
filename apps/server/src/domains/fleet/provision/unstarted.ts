import { quote, type Layout } from './layout.ts'
import type { Machine } from './machine.ts'

/**
 * The files written since the agent was last started, as `put` lists them. An installation that broke off leaves them,
 * and comparing files alone would take them for what runs.
 */
export async function readUnstarted(machine: Machine, { unstarted }: Layout): Promise<string[]> {
  const { stdout } = await machine.attempt(`cat ${quote(unstarted)} 2> /dev/null`)
  return stdout.split('\n').filter(line => line !== '')
}

/** Call it once what is installed has been started. */
export const forgetUnstarted = async (machine: Machine, { unstarted }: Layout): Promise<void> => {
  await machine.run(`rm -f ${quote(unstarted)}`)
}
