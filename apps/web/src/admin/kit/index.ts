/**
 * The console's building blocks: a screen is a declaration of columns, filters, fields and actions over one list of the
 * contract. Screens import from here; what is beside this file is the kit's own.
 */
export { code, column, date, integer, money, yesNo } from './columns.tsx'
export { fetchCsv, saveFile, stamp } from './csv.ts'
export { defineResource } from './define-resource.tsx'
export { idField, integerField, moneyField, optional, textField, timeField } from './fields.tsx'
export { idFilter, oneOf, textFilter, yesNoFilter } from './filters.ts'
export type { Selected, T, Tools } from './resource.ts'
export { deletion, useCommand } from './use-command.ts'
