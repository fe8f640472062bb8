import type { BulkAction, CurrentUser, QueryOf, ReplyOf } from '@netlet/contract'
import type { Translations } from '@netlet/contract/in-language'
import type { ComponentType, ReactNode } from 'react'
import type { Permission } from '@netlet/contract/permissions'
import type { Endpoint } from '../../api/client.ts'
import type { Key } from '../../i18n/admin.ts'
import type { Undo } from './undo.ts'

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
  type?: 'date' | 'month'
  /** Values of the address that are none of the filter's are left out of the query. */
  accepts: (value: string) => boolean
  /** What the query asks for a value; without it the value under the filter's own key. */
  asks?: (value: string) => Record<string, string>
}
/** A filter of its own making, whose values ask for other filters of the list. */
export type AskingFilter<Name extends string, Asked extends string> = Omit<Filter<Name>, 'asks'> & {
  asks: (value: string) => { [A in Asked]?: string }
}

export type FieldProps = { label: string; withAsterisk: boolean; [more: string]: unknown }
export type Field<Name extends string = string> = {
  name: Name
  Input: ComponentType<FieldProps>
  /** May stay empty. */
  optional?: boolean
  /** What is entered is kept nowhere before it is saved. */
  secret?: boolean
  /** Stands in the empty input, and below it. */
  placeholder?: (t: T, row: Record<string, unknown>) => string
  help?: (t: T) => string
  /** The unit in the input, where it depends on what the form's other fields hold. */
  unit?: (values: Record<string, string>) => { leftSection: string } | { rightSection: string }
  /** What the input shows of a row's value, and what is sent of the input's; `row` is the one that the form shows. */
  shown?: (value: unknown, row: Record<string, unknown>) => string
  sent?: (value: string, row: Record<string, unknown>) => unknown
  /** What the input holds in words, where it says nothing to a reader. */
  useTold?: () => (value: string) => string
  /** Only where a row is added, or only where one is edited. */
  only?: 'new' | 'edit'
  /** The row's text of this name in another language; `like`: the form's field that says it in the first one. */
  translates?: { language: keyof Translations; text: string; like: string }
}

/** What a form shows below its fields of what is entered: what saving it would do. */
export type PlanProps = {
  values: Record<string, string>
  /** The row that is edited; undefined where one is added. */
  row: ({ id: number } & Record<string, unknown>) | undefined
  /** Sets a field that has no input of its own. */
  set: (name: string, value: string) => void
}

/** A schema of the contract, as forms check by it. */
export type FormSchema = { readonly _zod: { input: object }; safeParse: (values: unknown) => unknown }
export type TranslatedField<Names extends string = string> = Field<'translations'> & {
  translates: { language: keyof Translations; text: string; like: Names }
}
type InputOf<S> = S extends { readonly _zod: { input: infer I } } ? keyof I & string : never

/**
 * `typed`: a number that has to be typed before YES, see `risky`. `blocked`: it would be refused, as the body says; there is
 * no YES.
 */
export type Question = { title: string; body: string; danger?: boolean; typed?: number; blocked?: boolean }
/** `adds`: what a form sends with its values, of the plan that somebody has said yes to. */
type FormQuestion = Question & { adds?: Record<string, unknown> }
/** What is asked before something is done; a plan of the server takes its time. */
export type Asking = FormQuestion | undefined | Promise<FormQuestion | undefined>
/** `sent`: the values of the form, where there is one. */
export type Ask<R> = (t: T, row: R, sent: Record<string, unknown>) => Asking

/** The words of the reason why somebody cannot do it with this row; undefined where there is none. */
export type WhyNot<R> = (row: R, me: CurrentUser | null) => Key | undefined

/** What can be done with one row: a call, a small form whose values are sent, or work of its own. */
export type RowAction<R, Name extends string = string> = {
  name: Name
  icon: Icon
  danger?: boolean
  /** Why it cannot be done with this row as it is; it is offered then, and says so. */
  whyNot?: WhyNot<R>
  success?: (t: T) => string
  failure?: string
} &
  /** Where it gives no question, none is asked. */
  (
    | { route: Endpoint; confirm?: Ask<R>; done?: Answered; undo?: Undoing<R> }
    | {
        form: { schema: FormSchema; fields: readonly Field[]; route: Endpoint }
        /** What is asked before the form is sent: what will happen. */
        confirm?: Ask<R>
        done?: Answered
        undo?: Undoing<R>
      }
    /** `needs`: the call that the work makes, where it makes one: offered to those alone who may make it. */
    | { run: (row: R, tools: Tools) => unknown; needs?: Endpoint }
  )

/** What a row's own work may ask of the screen. */
export type Tools = {
  t: T
  show: (id: number) => void
  detail: (id: number) => void
  /** Follows a bulk run above the list. */
  watch: (run: number) => void
  form: (action: string, id: number) => void
  /** Leaves for another address, which is told as `from` where this list was. */
  go: (path: string) => Promise<void>
  refresh: () => void
}

/** What takes an action back exactly, of the row before it and the call's answer; nothing where that is not possible. */
type Undoing<R> = (row: R, reply: unknown) => Undo | undefined

/** What is done with the call's answer. */
type Answered = (reply: unknown, tools: Tools) => void

/** What can be done to all rows that are selected: a bulk run of the contract, or work of its own. */
export type Batch = { icon: Icon; danger?: boolean; failure?: string } &
  /** `planned`: the server says before what will become of the rows, which stands below the question. */
  (
    | { name: BulkAction; confirm?: (t: T, count: string) => Question; planned?: true }
    /** `needs`: the call that the work leads to: offered to those alone who may make it. `open` sets parameters of the address. */
    | {
        name: string
        run: (selection: Selected, open: (params: Record<string, string>) => void) => unknown
        needs?: Endpoint
      }
  )
/** The ids that were ticked, or the query that all are meant of, with the order in which the list shows them. */
export type Selected =
  | { ids: number[] }
  | { query: Record<string, string>; sort: Record<string, string>; expected: number | undefined }

export type DialogProps<R> = {
  /** What the address asks for; null: nothing. */
  task: { id: string; row: R } | null
  onClose: () => void
  /** `undo`: what takes exactly this edit back, where anything does. */
  onSaved: (undo?: Undo) => void
}

type FormOf<R, K extends string, S extends FormSchema> = {
  schema: S
  fields: readonly (Field<InputOf<S> & Worded<K>> | TranslatedField<InputOf<S>>)[]
  create?: Endpoint
  update?: Endpoint
  /** Why a row cannot be edited as it is. */
  whyNotEdit?: WhyNot<R>
  plan?: ComponentType<PlanProps>
  /** What is asked before a row's edit is saved: what it will do. Nothing where it gives no question. */
  confirm?: Ask<R>
  /**
   * The former values, sent with the new version, make the row what it was: an edit offers Undo. Where that depends on
   * what was changed, it says whether this edit does.
   */
  undo?: true | ((edit: { former: Record<string, unknown>; sent: Record<string, unknown> }) => boolean)
}

export type Spec<K extends string, L, R, S extends FormSchema> = {
  /** Names the words, the preferences (`list.<key>`) and the CSV file. */
  key: K
  list: L
  columns: readonly Column<R, Worded<K>>[]
  sort?: readonly SortOf<L>[]
  filters?: readonly (Filter<FilterOf<L> & Worded<K>> | AskingFilter<Worded<K>, FilterOf<L>>)[]
  /** Parameters of the address that other parts of the screen read. What nothing reads is taken out. */
  address?: readonly string[]
  /** The same of the drawer: they go when it closes, and the next row's begins without them. */
  addressOfDrawer?: readonly string[]
  /** The same of the detail view. */
  addressOfDetail?: readonly string[]
  /** Other calls whose answers change with the list's. */
  also?: readonly Endpoint[]
  form?: FormOf<R, K, S>
  /** The dialog in which a row is edited, where fields one below the other do not do. */
  dialog?: ComponentType<DialogProps<R>>
  /** The call that an edit by `dialog` or `editAt` makes. */
  edits?: Endpoint
  /** What changing this row takes of whom is signed in, beside what the calls take; undefined: nothing. */
  takes?: (row: R, me: CurrentUser | null) => Permission | undefined
  /** One row, where the list shows another page; without it, the list is asked for the id. */
  find?: (id: number) => Promise<R>
  remove?: { route: Endpoint; whyNot?: WhyNot<R>; confirm?: (t: T, row: R) => Asking; undo?: Undoing<R> }
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
  /** The address of a row's own page. */
  pageOf?: (row: R) => string
  above?: ComponentType
  /** The screen's own buttons, beside those of the list. */
  toolbar?: ComponentType
  /** The address of the view in which a row is edited, where a form beside the list is too small for it. */
  editAt?: (row: R) => string
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
