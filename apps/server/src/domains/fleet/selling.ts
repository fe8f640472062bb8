import type { Unit } from '../../infra/command.ts'
import type { ServerRow } from './server-row.ts'

/** Whether a server's free addresses are stock. The view `inventory.sellers` has the same condition. */
export const sells = ({ status, offline, unservedSince }: Pick<ServerRow, 'status' | 'offline' | 'unservedSince'>) =>
  status === 'active' && !offline && unservedSince === null

/** Other servers sell now, so shop pages must read the stock again. */
export const publishSelling = (unit: Unit): void => unit.publish('server_group')
