/** The console's building blocks. Screens import only from this file. */
export {
  AllowedFields,
  TimeInput,
  choiceField,
  discountField,
  idField,
  inChinese,
  instantField,
  instantOf,
  integerField,
  localTime,
  moneyField,
  numberField,
  optional,
  secretField,
  switchField,
  textField,
  timeField
} from './fields.tsx'
export { AuditLink, type Fact, FactList, StatList, auditPath } from './facts.tsx'
export { actionName, CancelRun, countsOf, isRunning, RunProgress } from './bulk-run.tsx'
export { ChangedMeanwhile, FormAlert, UndecidedClashes } from './changed-meanwhile.tsx'
export { code, column, date, integer, moment, money, yesNo } from './columns.tsx'
export { download, fetchCsv, saveFile, stamp } from './use-command.ts'
export { type Column, DataTable, KeyboardRows, ListSection } from './data-table.tsx'
export { defineResource } from './screen.tsx'
export { areaField, hiddenField, idsField, noteFields } from './long-fields.tsx'
export { askingFilter, dayFilter, idFilter, monthFilter, oneOf, textFilter, yesNoFilter } from './columns.tsx'
export { useOpenForm } from './use-merging-form.ts'
export type {
  DialogProps,
  Field,
  FieldProps,
  FormSchema,
  PlanProps,
  Question,
  Selected,
  T,
  Tools,
  WhyNot
} from './resource.ts'
export { ofMany, risky } from './selection-bar.tsx'
export { SecondLanguage } from './form-drawer.tsx'
export { Pager } from './pager.tsx'
export { RowButton } from './row-menu.tsx'
export { RowPage, RowPageHead } from './row-page.tsx'
export { RowTools } from './row-tools.tsx'
export { May } from './words.tsx'
export { stateBack, type Undo } from './undo.ts'
export { deletion, showDone, toTell, useCommand } from './use-command.ts'
export { figures } from './words.tsx'
export { TabBar, useScrollShade } from './tab-bar.tsx'
export { useSettled } from './use-list.ts'
export { useMergingForm } from './use-merging-form.ts'
export { UnavailableHint } from '../../kit/unavailable-hint.tsx'
export { WorkButton } from './words.tsx'
