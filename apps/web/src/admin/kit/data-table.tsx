import { DataTable as Plain } from '../../kit/data-table.tsx'
import { Keyed } from './keyed.tsx'

export type { Column } from '../../kit/data-table.tsx'

/** The shared table with the console's keyboard shortcuts. */
export const DataTable: typeof Plain = props => (
  <Keyed>
    <Plain {...props} />
  </Keyed>
)
