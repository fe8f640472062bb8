import { holdCallsDuring } from './client.ts'
import { queryClient, refreshAll } from './query.ts'
import { leaveSession } from './session.ts'

/**
 * Ends the session with `end`, then goes to another page with `leave`. Queries of the old screen are cancelled: they
 * would fail as unauthorised and redirect to the login page.
 */
export async function endSession(end: () => Promise<unknown>, leave: () => void | Promise<void>): Promise<void> {
  const work = async () => {
    await end()
    await leave()
    await queryClient.cancelQueries()
    leaveSession()
  }
  await queryClient.cancelQueries()
  try {
    await holdCallsDuring(work())
  } catch (error) {
    void refreshAll()
    throw error
  }
}
