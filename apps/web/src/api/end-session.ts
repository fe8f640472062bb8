import { holdCallsDuring } from './client.ts'
import { queryClient, refreshAll } from './query.ts'
import { leaveSession } from './session.ts'

/** Ends the session, then leaves the page. Cancels the old screen's queries: a 401 would lead to the login page. */
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
