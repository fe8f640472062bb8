import type { AuditEntry, Resource } from '@netlet/contract'
import type { MouseEvent } from 'react'
import { Link } from 'react-router'
import { useT } from '../../i18n/admin.ts'
import { money } from '../../kit/money.ts'
import { Moment } from '../../kit/time.tsx'
import { auditPath } from '../kit/index.ts'
import classes from './audit.module.css'
import { actionText, isMoneyField, isYesNoField, labelOf, valueKey } from './labels.ts'
import { none } from '../../kit/none.tsx'
import { type PageId, pageAt } from '@netlet/contract/pages'

const at = (page: PageId, query: string) => (id: string) => `${pageAt(page)}?${query}${id}`
const edited = (page: PageId) => at(page, 'form=edit.')
const opened = (page: PageId) => at(page, 'open=')

/** Where an object of each kind is shown; null if no address leads to it. */
export const TARGETS: Record<Resource, ((id: string) => string) | null> = {
  acl_group: edited('AclGroupManager'),
  acl_rule: edited('AclManager'),
  api_key: null,
  bulk_run: null,
  catalog_sync: null,
  // A single address leads to its history.
  cidr: id => (/^\d+$/.test(id) ? at('CIDRManage', 'detail=') : at('addresses', 'address='))(encodeURIComponent(id)),
  collection: edited('productType'),
  coupon: edited('promocode'),
  faq: edited('QA'),
  gift_card: edited('giftcard'),
  incident: opened('incidents'),
  level_code: edited('leveldiscount'),
  mail: opened('mails'),
  notice: id => at('notices', /^\d+$/.test(id) ? 'open=' : 'tab=')(id),
  notice_channel: () => at('notices', 'tab=')('channels'),
  order: id => pageAt('order', { id }),
  platform_event: null,
  product: product => pageAt('productManager', { product }),
  server: opened('servers'),
  server_group: edited('servergroup'),
  settings: () => pageAt('WebsiteSettings'),
  tag: edited('productTag'),
  saved_reply: () => at('tickets', 'tab=')('replies'),
  ticket: opened('tickets'),
  upgrade: () => pageAt('servers'),
  user: id => pageAt('user', { id }),
  webhook: at('webhooks', 'endpoint_id=')
}

/** One changed field; undefined: it did not exist. */
export type Change = { field: string; before: unknown; after: unknown }

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const NAMES = ['variant_name', 'cidr', 'name', 'option_name', 'domain', 'id']

/** Identifies an object in a list. */
function nameIn(one: Record<string, unknown>, at: number): string {
  const named = NAMES.map(field => one[field]).find(value => typeof value === 'number' || (value ?? '') !== '')
  return typeof named === 'string' || typeof named === 'number' ? String(named).replaceAll(']', ')') : String(at + 1)
}

const isTable = (value: unknown): value is Record<string, unknown>[] =>
  Array.isArray(value) && value.length > 0 && value.every(isObject)

/** Objects with only a name become a list of names. */
const listed = (value: readonly unknown[]): readonly unknown[] =>
  value.every(one => isObject(one) && typeof one['name'] === 'string' && Object.keys(one).length <= 2 && 'id' in one)
    ? value.map(one => (one as { name: string }).name)
    : value

/** A value's fields by path, such as 'agent.url'. List objects go by name: 'variants[New York].variant_price'. */
function flatten(value: unknown, path = ''): [field: string, value: unknown][] {
  if (value === null || value === undefined) return path ? [[path, value]] : []
  if (Array.isArray(value)) value = listed(value)
  if (isTable(value)) return value.flatMap((one, at) => flatten(one, `${path}[${nameIn(one, at)}]`))
  if (!isObject(value)) return [[path, value]]
  // An object without fields, such as empty translations, yields nothing.
  return Object.entries(value).flatMap(([key, one]) => flatten(one, path ? `${path}.${key}` : key))
}

/** The fields that differ, in order. If both values are given, a field that only one has counts as changed. */
export function difference(before: unknown, after: unknown): { changed: Change[]; same: string[] } {
  const [was, is] = [new Map(flatten(before)), new Map(flatten(after))]
  const changed: Change[] = []
  const same: string[] = []
  for (const field of new Set([...was.keys(), ...is.keys()])) {
    const change = { field, before: was.get(field), after: is.get(field) }
    // Secrets are masked, so two masked values may differ.
    const equal = JSON.stringify(change.before) === JSON.stringify(change.after) && change.after !== '[secret]'
    if (equal && was.has(field) && is.has(field)) same.push(field)
    else changed.push(change)
  }
  return { changed, same }
}

/** What was added to and removed from a list; null unless both values are lists of plain values. */
export function listChange({ before, after }: Change): { added: unknown[]; removed: unknown[] } | null {
  if (!Array.isArray(before) || !Array.isArray(after)) return null
  return {
    added: after.filter(one => !before.includes(one)),
    removed: before.filter(one => !after.includes(one))
  }
}

export function Actor({ entry: { actor, viewed_as: viewedAs, via } }: { entry: AuditEntry }) {
  const t = useT()
  return (
    <>
      {actor}
      {viewedAs && <div className="dim">{t('audit.viewedAs', { name: viewedAs })}</div>}
      {via && <div className="dim">{t('audit.via', { name: via })}</div>}
    </>
  )
}

const isKnown = (type: string): type is Resource => type in TARGETS

/** 'Order 5', in the current language. */
export function useTargetName({ target_type: type, target_id: id, target_name: name }: AuditEntry): string {
  const t = useT()
  return `${isKnown(type) ? t(`audit.of.${type}`) : type} ${name ?? id}`
}

export function Target({ entry }: { entry: AuditEntry }) {
  const t = useT()
  const { target_type: type, target_id: id, target_name: name } = entry
  if (!isKnown(type)) return `${type} ${name ?? id}`
  return (
    <Link to={auditPath(type, id)}>
      {t(`audit.of.${type}`)} <span className={type === 'order' ? 'whole' : undefined}>{name ?? id}</span>
    </Link>
  )
}

/** The object's own screen; null if there is none. */
export const placeOf = ({ target_type: type, target_id: id }: AuditEntry): string | null =>
  isKnown(type) && id !== 'all' ? (TARGETS[type]?.(id) ?? null) : null

const SHOWN = 3

/** The action in words, and its technical name, by which the filter finds it. */
export function Action({ entry: { action } }: { entry: AuditEntry }) {
  const t = useT()
  const words = actionText(t, action)
  return (
    <>
      {words}
      {words !== action && <div className="dim mono">{action}</div>}
    </>
  )
}

/** The title of a line that does not fit says all of it. */
const titleWhole = ({ currentTarget: line }: MouseEvent<HTMLElement>) => {
  line.title = line.scrollWidth > line.clientWidth ? (line.textContent ?? '') : ''
}

/** The first fields that differ: 'Coins: 1 → 2'. */
export function Changes({ entry }: { entry: AuditEntry }) {
  const t = useT()
  // Skip fields without a value on either side. The drawer shows them.
  const changed = difference(entry.before, entry.after).changed.filter(
    one => (one.before ?? one.after ?? null) !== null
  )
  if (changed.length === 0) return none
  return (
    <ul className={`size-table ${classes.changes}`}>
      {changed.slice(0, SHOWN).map(change => (
        <li key={change.field} onMouseEnter={titleWhole}>
          {change.field && <span className="dim">{labelOf(t, entry.target_type, change.field)}: </span>}
          <ChangeText of={change} resource={entry.target_type} />
        </li>
      ))}
      {changed.length > SHOWN && <li className="dim">{t('audit.more', { count: changed.length - SHOWN })}</li>}
    </ul>
  )
}

/** 'before → after'; for a list, what was added and removed. */
function ChangeText({ of: change, resource }: { of: Change; resource: string }) {
  const list = listChange(change)
  if (list) return <ListText of={list} />
  const { field } = change
  return (
    <>
      {change.before !== undefined && (
        <>
          <Value of={change.before} resource={resource} field={field} />
          {' → '}
        </>
      )}
      <Value of={change.after} resource={resource} field={field} />
    </>
  )
}

const joined = (values: readonly unknown[]): string => values.map(plain).join(', ')
const plain = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

export function ListText({ of: { added, removed } }: { of: { added: unknown[]; removed: unknown[] } }) {
  const t = useT()
  return (
    <span className="breaks">
      {[
        ...(added.length > 0 ? [t('audit.added', { values: joined(added) })] : []),
        ...(removed.length > 0 ? [t('audit.removed', { values: joined(removed) })] : [])
      ].join('; ')}
    </span>
  )
}

const INSTANT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?Z$/

/** A value in words if its field has any. Secrets were never recorded. */
export function Value({ of, resource, field }: { of: unknown; resource: string; field: string }) {
  const t = useT()
  if (of === undefined || of === null || of === '') return <span className="dim">{t('audit.unset')}</span>
  if (of === '[secret]') return <span className="dim">{t('audit.secret')}</span>
  const key = valueKey(resource, field, of)
  if (key) return <>{t(key)}</>
  if (typeof of === 'boolean' || (isYesNoField(field) && (of === 0 || of === 1)))
    return <>{t(of ? 'list.flag.1' : 'list.flag.0')}</>
  if (typeof of === 'string' && INSTANT.test(of)) return <Moment at={of} />
  if (typeof of === 'string' && isMoneyField(field) && /^-?\d+(\.\d+)?$/.test(of)) return <>{money(of)}</>
  if (Array.isArray(of)) return <span className="breaks">{of.length === 0 ? t('audit.unset') : joined(of)}</span>
  return <span className="breaks">{plain(of)}</span>
}
