import { DataTable as Plain } from '../../kit/data-table.tsx'
import { KeyboardRows } from './keyboard-rows.tsx'

export type { Column } from '../../kit/data-table.tsx'

/** The shared table with the console's keyboard shortcuts. */
export const DataTable: typeof Plain = props => (
  <KeyboardRows>
    <Plain {...props} />
  </KeyboardRows>
)
