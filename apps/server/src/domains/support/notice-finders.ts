import type { NoticeFinder } from '../notices/index.ts'
import { countOpenTickets } from './tickets.ts'

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
