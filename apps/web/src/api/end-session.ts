import { holdCallsDuring } from './client.ts'
import { queryClient, refreshAll } from './query.ts'
import { leaveSession } from './session.ts'

/**
 * Ends the session of a user who wants it, by `end`, then goes to another page by `leave`. What the screen has asked for is taken back, and what it
 * asks meanwhile waits and is never asked: it would be answered that nobody is signed in, and lead to the login.
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
