import type { BulkAction, QueryOf, ReplyOf } from '@netlet/contract'
import type { ComponentType, ReactNode } from 'react'
import type { Endpoint } from '../../api/client.ts'
import type { Key } from '../../i18n/admin.ts'

/** What every row of a list has. */
export type Row = { id: number }
export type RowOf<L> = ReplyOf<L> extends { data: readonly (infer R)[] } ? R : never
type SortOf<L> = QueryOf<L> extends { sort_by?: infer S } ? NonNullable<S> & string : never
type FilterOf<L> = Exclude<keyof QueryOf<L> & string, 'limit' | 'offset' | 'search' | 'sort_by' | 'after' | 'format'>

/** A resource is named by its words: 'gift-cards' has `gift-cards.label` in the console's catalogue. */
export type Named = Key extends infer W ? (W extends `${infer K}.label` ? K : never) : never
/** What a resource has a word for: with `gift-cards.code`, a column or a field may be called `code`. */
export type Worded<K extends string> = Key extends infer W ? (W extends `${K}.${infer N}` ? N : never) : never

export type Icon = ComponentType<{ size?: number; 'aria-hidden'?: boolean }>
export type T = (key: Key, values?: Record<string, string | number>) => string

export type Column<R, Name extends string = string> = {
  key: Name
  cell: (row: R) => ReactNode
  align?: 'end'
  /** Leads a card on a narrow screen; the others follow as title and value. */
  lead?: boolean
  /** Takes a card's whole width: its value may be long. */
  wide?: boolean
  /** Only shown to those who choose it. */
  optional?: boolean
}

export type Option = { value: string; label: string }
export type Filter<Name extends string = string> = {
  key: Name
  /** The values to choose from; without them the filter is a text. */
  useOptions?: () => readonly Option[]
  /** Values of the address that are none of the filter's are left out of the query. */
  accepts: (value: string) => boolean
}

export type FieldProps = { label: string; withAsterisk: boolean; [more: string]: unknown }
export type Field<Name extends string = string> = {
  name: Name
  Input: ComponentType<FieldProps>
  /** May stay empty. */
  optional?: boolean
  /** Stands in the empty input, and below it. */
  placeholder?: (t: T, row: Record<string, unknown>) => string
  help?: (t: T) => string
  /** What the input shows of a row's value, and what is sent of the input's. */
  shown?: (value: unknown) => string
  sent?: (value: string) => unknown
}

/** A schema of the contract, as forms check by it. */
export type FormSchema = { readonly _zod: { input: object }; safeParse: (values: unknown) => unknown }
type InputOf<S> = S extends { readonly _zod: { input: infer I } } ? keyof I & string : never

export type Question = { title: string; body: string; danger?: boolean }

/** What can be done with one row: a call, a small form whose values are sent, or work of its own. */
export type RowAction<R, Name extends string = string> = {
  name: Name
  icon: Icon
  danger?: boolean
  /** Where it can be done; elsewhere it is offered, but not enabled. */
  when?: (row: R) => boolean
  success?: (t: T) => string
  failure?: string
} &
  /** Where it gives no question, none is asked. */
  (
    | { route: Endpoint; confirm?: (t: T, row: R) => Question | undefined }
    | {
        form: { schema: FormSchema; fields: readonly Field[]; route: Endpoint }
        /** What is asked before the form is sent: what will happen. */
        confirm?: (t: T, row: R) => Question
      }
    | { run: (row: R, tools: Tools) => unknown }
  )

/** What a row's own work may ask of the screen. */
export type Tools = { t: T; show: (id: number) => void; detail: (id: number) => void; refresh: () => void }

/** What can be done to all rows that are selected: a bulk run of the contract, or work of its own. */
export type Batch = { icon: Icon; danger?: boolean; failure?: string } & (
  | { name: BulkAction; confirm?: (t: T, count: string) => Question }
  | { name: string; run: (selection: Selected) => Promise<void> }
)
/** The ids that were ticked, or the query that all are meant of. */
export type Selected = { ids: number[] } | { query: Record<string, string>; expected: number | undefined }

type FormOf<R, K extends string, S extends FormSchema> = {
  schema: S
  fields: readonly Field<InputOf<S> & Worded<K>>[]
  create?: Endpoint
  update?: Endpoint
  /** Rows that can be edited; without it all. */
  editable?: (row: R) => boolean
}

export type Spec<K extends string, L, R, S extends FormSchema> = {
  /** Names the words, the preferences (`list.<key>`) and the CSV file. */
  key: K
  list: L
  columns: readonly Column<R, Worded<K>>[]
  sort?: readonly SortOf<L>[]
  filters?: readonly Filter<FilterOf<L> & Worded<K>>[]
  /** Other calls whose answers change with the list's. */
  also?: readonly Endpoint[]
  form?: FormOf<R, K, S>
  /** One row, where the list shows another page. */
  find?: (id: number) => Promise<R>
  remove?: { route: Endpoint; when?: (row: R) => boolean; confirm?: (t: T, row: R) => Question }
  rowActions?: readonly RowAction<R, Worded<K>>[]
  batch?: readonly Batch[]
  /** What is said to those who start a batch with nothing selected; the contract's words without it. */
  noneSelected?: string
  failure?: string
  csv?: boolean
  sizes?: readonly number[]
  /** Rows that need somebody's attention, and rows that will change by themselves soon. */
  problem?: (row: R) => boolean
  moving?: (row: R) => boolean
  /** How a row is named where it stands alone. */
  nameOf: (row: R) => string
  above?: ComponentType
  /** What the drawer beside the list shows of a row, and the view that takes the list's place. */
  drawer?: ComponentType<{ id: number; row: R | undefined; tools: Tools }>
  detail?: ComponentType<{ id: number; onBack: () => void; actions: (row: R) => ReactNode }>
}

/** A resource as the kit's parts see it. */
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
