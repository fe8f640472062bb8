/** The console's building blocks. Screens import only from this file. */
export { AllowedFields } from './allowed-fields.tsx'
export { AuditLink, auditPath } from './audit-link.tsx'
export { actionName, CancelRun, countsOf, goesOn, RunProgress } from './bulk-progress.tsx'
export { ChangedMeanwhile, UndecidedClashes } from './changed-meanwhile.tsx'
export { code, column, date, integer, moment, money, yesNo } from './columns.tsx'
export { download, fetchCsv, saveFile, stamp } from './csv.ts'
export { DataTable, type Column } from './data-table.tsx'
export { defineResource } from './define-resource.tsx'
export {
  choiceField,
  discountField,
  idField,
  inChinese,
  instantField,
  integerField,
  moneyField,
  numberField,
  optional,
  secretField,
  switchField,
  textField,
  timeField
} from './fields.tsx'
export { FactList, StatList, type Fact } from './facts.tsx'
export { FormAlert } from './form-alert.tsx'
export { areaField, hiddenField, idsField } from './long-fields.tsx'
export { askingFilter, dayFilter, idFilter, monthFilter, oneOf, textFilter, yesNoFilter } from './filters.ts'
export { KeyboardRows } from './keyboard-rows.tsx'
export { ListSection } from './list-section.tsx'
export { instantOf, localTime } from './time-input.tsx'
export { useOpenForm } from './open-form.ts'
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
export { SecondLanguage } from './second-language.tsx'
export { Pager } from './pager.tsx'
export { RowButton } from './row-button.tsx'
export { RowPage, RowPageHead } from './row-page.tsx'
export { RowTools } from './row-tools.tsx'
export { May } from './may.tsx'
export { stateBack, type Undo } from './undo.ts'
export { deletion, sayDone, useCommand } from './use-command.ts'
export { figures } from './words.ts'
export { useScrollShade } from './scroll-shade.ts'
export { TabBar } from './tab-bar.tsx'
export { TimeInput } from './time-input.tsx'
export { useSettled } from './use-settled.ts'
export { useMergingForm } from './use-merging-form.ts'
export { UnavailableHint } from '../../kit/unavailable-hint.tsx'
export { WorkButton } from './work-button.tsx'
