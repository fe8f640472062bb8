import type { Unit } from '../../infra/command.ts'
import type { ServerRow } from './server-row.ts'

/** Are its free addresses stock? As the view `inventory.sellers` has it. */
export const sells = ({ status, offline, unservedSince }: Pick<ServerRow, 'status' | 'offline' | 'unservedSince'>) =>
  status === 'active' && !offline && unservedSince === null

/** Which servers sell has changed: what shoppers are shown of the stock is read again. */
export const publishSelling = (unit: Unit): void => unit.publish('server_group')
