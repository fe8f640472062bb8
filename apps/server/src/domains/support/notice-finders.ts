import type { NoticeFinder } from '../notices/index.ts'
import { countOpenTickets } from './tickets.ts'

/** Notices about tickets, for operators. */
export const supportFinders: NoticeFinder[] = [
  {
    cause: 'tickets',
    every: 1,
    async find({ db }) {
      const count = await countOpenTickets(db)
      return count === 0 ? [] : [{ subject: '', words: 'tickets', params: { count }, count }]
    }
  }
]
