import { DataTable as Plain } from '../../kit/data-table.tsx'
import { Keyed } from './keyed.tsx'

export type { Column } from '../../kit/data-table.tsx'

/** The table of the kit, with the keys of the console's lists. */
export const DataTable: typeof Plain = props => (
  <Keyed>
    <Plain {...props} />
  </Keyed>
)
