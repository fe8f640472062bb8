import type { Unit } from '../../infra/command.ts'

/** Which servers sell has changed: what shoppers are shown of the stock is read again. */
export const publishSelling = (unit: Unit): void => unit.publish('server_group')
