import type { BulkAction, CurrentUser, QueryOf, ReplyOf } from '@netlet/contract'
import type { Translations } from '@netlet/contract/languages'
import type { ComponentType, ReactNode } from 'react'
import type { Permission } from '@netlet/contract/permissions'
import type { Endpoint } from '../../api/client.ts'
import type { Question as Asked } from '../../kit/confirm.ts'
import type { Key } from '../../i18n/admin.ts'
import type { Undo } from './undo.ts'

export type Row = { id: number }
export type RowOf<L> = ReplyOf<L> extends { data: readonly (infer R)[] } ? R : never
type SortOf<L> = QueryOf<L> extends { sort_by?: infer S } ? NonNullable<S> & string : never
type FilterOf<L> = Exclude<keyof QueryOf<L> & string, 'limit' | 'offset' | 'search' | 'sort_by' | 'after' | 'format'>

/** A resource is identified by its words: 'gift-cards' has `gift-cards.label` in the console's catalogue. */
export type Named = Key extends infer W ? (W extends `${infer K}.label` ? K : never) : never
/** Names with a word: with `gift-cards.code`, a column or field may be called `code`. */
export type Worded<K extends string> = Key extends infer W ? (W extends `${K}.${infer N}` ? N : never) : never

export type Icon = ComponentType<{ size?: number; 'aria-hidden'?: boolean }>
export type T = (key: Key, values?: Record<string, string | number>) => string

export type Column<R, Name extends string = string> = {
  key: Name
  cell: (row: R) => ReactNode
  align?: 'end'
  /** On a narrow screen it is the card's heading. The others follow as title and value. */
  lead?: boolean
  /** Spans the card, because its value may be long. */
  wide?: boolean
  /** Hidden until the user chooses it. */
  optional?: boolean
}

export type Option = { value: string; label: string }
export type Filter<Name extends string = string> = {
  key: Name
  /** The selectable values; without them the filter is a text input. */
  useOptions?: () => readonly Option[]
  type?: 'date' | 'month'
  /** Rejects values in the address that the filter does not have. */
  accepts: (value: string) => boolean
  /** Tabs above the list choose it, so the toolbar does not. */
  byTabs?: true
  /** The query for a value; by default the value under the filter's key. */
  asks?: (value: string) => Record<string, string>
}
/** A filter whose values set other filters of the list. */
export type AskingFilter<Name extends string, Asked extends string> = Omit<Filter<Name>, 'asks'> & {
  asks: (value: string) => { [A in Asked]?: string }
}

export type FieldProps = { label: string; withAsterisk: boolean; [more: string]: unknown }
export type Field<Name extends string = string> = {
  name: Name
  Input: ComponentType<FieldProps>
  /** May be empty. */
  optional?: boolean
  /** Never kept in a draft. */
  secret?: boolean
  /** The placeholder, and the help below the input. */
  placeholder?: (t: T, row: Record<string, unknown>) => string
  help?: (t: T) => string
  /** The unit in the input, which may depend on other fields. */
  unit?: (values: Record<string, string>) => { leftSection: string } | { rightSection: string }
  /** Converts a row's value for the input, and the input's value for the call. `row` is the form's row. */
  shown?: (value: unknown, row: Record<string, unknown>) => string
  sent?: (value: string, row: Record<string, unknown>) => unknown
  /** Describes the input's value if the value itself is not readable. */
  useDescription?: () => (value: string) => string
  /** Only for a new row, or only for an edit. */
  only?: 'new' | 'edit'
  /** The translation of the row's text `text`; `like` is the form's field for the original. */
  translates?: { language: keyof Translations; text: string; like: string }
}

/** Props of a preview below a form's fields: what saving would do. */
export type PlanProps = {
  values: Record<string, string>
  /** The edited row; undefined for a new one. */
  row: ({ id: number } & Record<string, unknown>) | undefined
  /** Sets a field without an input. */
  set: (name: string, value: string) => void
}

/** A schema of the contract, for validating a form. */
export type FormSchema = { readonly _zod: { input: object }; safeParse: (values: unknown) => unknown }
export type TranslatedField<Names extends string = string> = Field<'translations'> & {
  translates: { language: keyof Translations; text: string; like: Names }
}
type InputOf<S> = S extends { readonly _zod: { input: infer I } } ? keyof I & string : never

/** `typed`: a number to type before YES, see `risky`. `blocked`: there is no YES; the body says why. `note`: see `toTell`. */
export type Question = Pick<Asked, 'title' | 'body' | 'danger' | 'typed' | 'blocked' | 'note'>
/** `adds`: values sent with the form's, from the plan that the user confirmed. */
type FormQuestion = Question & { adds?: Record<string, unknown> }
/** The question before an action. It may have to wait for the server's plan. */
export type Asking = FormQuestion | undefined | Promise<FormQuestion | undefined>
/** `sent`: the form's values, if there is a form. */
export type Ask<R> = (t: T, row: R, sent: Record<string, unknown>) => Asking

/** The words for why a user cannot do it with this row; undefined if they can. */
export type WhyNot<R> = (row: R, me: CurrentUser | null) => Key | undefined

/** An action on one row: a call, a small form, or the screen's own work. */
export type RowAction<R, Name extends string = string> = {
  name: Name
  icon: Icon
  danger?: boolean
  /** Why it is unavailable for this row. It is still offered and shows the reason. */
  whyNot?: WhyNot<R>
  success?: (t: T, reply: unknown) => string
  failure?: string
} &
  /** Without a question, the action runs at once. */
  (
    | { route: Endpoint; confirm?: Ask<R>; done?: Answered; undo?: Undoing<R> }
    | {
        form: { schema: FormSchema; fields: readonly Field[]; route: Endpoint }
        /** The question before the form is sent: what will happen. */
        confirm?: Ask<R>
        done?: Answered
        undo?: Undoing<R>
      }
    /** `needs`: the call that the work makes. Only roles that may make it see the action. */
    | { run: (row: R, tools: Tools) => unknown; needs?: Endpoint }
  )

/** What a row's own work can use of the screen. */
export type Tools = {
  t: T
  show: (id: number) => void
  detail: (id: number) => void
  /** Shows a bulk run above the list. */
  watch: (run: number) => void
  form: (action: string, id: number) => void
  /** Navigates, and passes this list's address as `from`. */
  go: (path: string) => Promise<void>
  refresh: () => void
}

/**
 * The exact reversal of an action, from the row before it, the call's answer and the form's values; undefined if there
 * is none.
 */
type Undoing<R> = (row: R, reply: unknown, sent?: Record<string, unknown>) => Undo | undefined

/** Handles the call's answer. */
type Answered = (reply: unknown, tools: Tools) => void

/** An action on all selected rows: a bulk run of the contract, or the screen's own work. */
export type Batch = { icon: Icon; danger?: boolean; failure?: string } &
  /** `planned`: the server first reports what would happen to the rows, which the question shows. */
  (
    | { name: BulkAction; confirm?: (t: T, count: string) => Question; planned?: true }
    /** `needs`: only roles that may make this call see the action. `open` sets parameters of the address. */
    | {
        name: string
        run: (selection: Selected, open: (params: Record<string, string>) => void) => unknown
        needs?: Endpoint
      }
  )
/** The ticked ids, or the query of all matching rows with the list's order. */
export type Selected =
  | { ids: number[] }
  | { query: Record<string, string>; sort: Record<string, string>; expected: number | undefined }

export type DialogProps<R> = {
  /** What the address opens; null: nothing. */
  task: { id: string; row: R } | null
  onClose: () => void
  /** `undo`: reverts exactly this edit, if possible. */
  onSaved: (undo?: Undo) => void
}

type FormOf<R, K extends string, S extends FormSchema> = {
  schema: S
  fields: readonly (Field<InputOf<S> & Worded<K>> | TranslatedField<InputOf<S>>)[]
  create?: Endpoint
  update?: Endpoint
  whyNotEdit?: WhyNot<R>
  plan?: ComponentType<PlanProps>
  /** The question before an edit is saved: what it will do. Without one, it saves at once. */
  confirm?: Ask<R>
  /** Offers Undo, which restores the former values. A function decides if it depends on what changed. */
  undo?: true | ((edit: { former: Record<string, unknown>; sent: Record<string, unknown> }) => boolean)
}

export type Spec<K extends string, L, R, S extends FormSchema> = {
  /** The prefix of the words, the preferences (`list.<key>`) and the CSV file's name. */
  key: K
  list: L
  columns: readonly Column<R, Worded<K>>[]
  sort?: readonly SortOf<L>[]
  filters?: readonly (Filter<FilterOf<L> & Worded<K>> | AskingFilter<Worded<K>, FilterOf<L>>)[]
  /** Parameters that other parts of the screen read. Unknown parameters are removed. */
  address?: readonly string[]
  /** Parameters of the drawer. They are removed when it closes or another row opens. */
  addressOfDrawer?: readonly string[]
  /** The same for the detail view. */
  addressOfDetail?: readonly string[]
  /** Other calls to refetch when the list changes. */
  also?: readonly Endpoint[]
  form?: FormOf<R, K, S>
  /** A dialog for editing a row, if a column of fields is not enough. */
  dialog?: ComponentType<DialogProps<R>>
  /** The call that `dialog` or `editAt` makes. */
  edits?: Endpoint
  /** A permission that changing this row needs besides those of the calls; undefined: none. */
  permissionToChange?: (row: R, me: CurrentUser | null) => Permission | undefined
  /** Loads one row that is not on the page. By default the list is queried by id. */
  find?: (id: number) => Promise<R>
  remove?: { route: Endpoint; whyNot?: WhyNot<R>; confirm?: (t: T, row: R) => Asking; undo?: Undoing<R> }
  rowActions?: readonly RowAction<R, Worded<K>>[]
  batch?: readonly Batch[]
  /** The message for a batch without a selection; by default the contract's. */
  noneSelected?: string
  failure?: string
  csv?: boolean
  sizes?: readonly number[]
  /** Rows that need attention, and rows that will soon change by themselves. */
  problem?: (row: R) => boolean
  moving?: (row: R) => boolean
  /** A row's name outside the list. */
  nameOf: (row: R) => string
  pageOf?: (row: R) => string
  above?: ComponentType
  /** The screen's own buttons beside the list's. */
  toolbar?: ComponentType
  /** The address of a row's edit view, if it does not fit beside the list. */
  editAt?: (row: R) => string
  /** The drawer beside the list, and the detail view that replaces it. */
  drawer?: ComponentType<{ id: number; row: R | undefined; tools: Tools }>
  detail?: ComponentType<{ id: number; onBack: () => void; actions: (row: R) => ReactNode }>
}

/** A resource as seen by the kit. */
export type Resource<R extends Row> = Omit<
  Spec<string, Endpoint, R, FormSchema>,
  'columns' | 'sort' | 'filters' | 'form' | 'rowActions'
> & {
  columns: readonly Column<R>[]
  sort: readonly string[]
  filters: readonly Filter[]
  form?: Omit<FormOf<R, string, FormSchema>, 'fields'> & { fields: readonly Field[] }
  rowActions: readonly RowAction<R>[]
}
