import { pageAt } from '@netlet/contract/pages'
import { useLocation, useNavigate } from 'react-router'
import type { Product } from '@netlet/contract'
import { Checkbox } from '@mantine/core'
import { useT } from '../../i18n/admin.ts'
import { gridStyle } from '../../kit/grid-style.ts'
import classes from './products.module.css'

export const LIST = pageAt('productManager')
export const ADD = `${LIST}/new`
export const editPath = (id: number): string => `${LIST}/${id}`

/** Returns to the list in its former state. */
export function useBack() {
  const navigate = useNavigate()
  const { state } = useLocation()
  const list = (state as { list?: unknown } | null)?.list
  return ({ replace = false } = {}) => void navigate(LIST + (typeof list === 'string' ? list : ''), { replace })
}

/** Variants whose price differs from the platform's. */
export const driftsOf = ({ variants }: Product) => variants.filter(variant => variant.price_drift !== null)

/** Variants on sale without a server group. */
export const withoutGroup = ({ variants }: Product) =>
  variants.filter(variant => variant.is_active && variant.server_group === null)

/** Variants that the platform sells only as long as its own stock lasts. */
export const countedThere = ({ variants }: Product) => variants.filter(variant => variant.platform_stock !== 'none')

/** Variants whose checkout asks for an address and a shipping rate. */
export const shippedThere = ({ variants }: Product) => variants.filter(variant => variant.shipped)

/** Needs a decision. Must match the list's filter `problem`. */
export const hasProblem = (product: Product): boolean =>
  !product.valid ||
  product.old_flag ||
  driftsOf(product).length > 0 ||
  withoutGroup(product).length > 0 ||
  countedThere(product).length > 0 ||
  shippedThere(product).length > 0

/** Why the platform's product cannot be bought by a checkout link. */
export const whyInvalid = ({ unpublished, subscription_only }: Product) =>
  subscription_only ? 'subscription' : unpublished ? 'unpublished' : 'withdrawn'

type Props = {
  label: string
  /** Undefined while loading. */
  options: readonly { id: number; name: string }[] | undefined
  chosen: readonly number[]
  onChange: (chosen: number[]) => void
}

export function CheckboxList({ label, options, chosen, onChange }: Props) {
  const t = useT()
  return (
    <fieldset>
      <legend className="strong size-body" style={{ marginBottom: '0.25rem' }}>
        {label}
      </legend>
      <div
        className={classes.choices}
        style={gridStyle('9rem', '0.5rem 0.75rem')}
        tabIndex={0}
        role="group"
        aria-label={label}
      >
        {options?.length === 0 && <span className="dim">{t('products.noneThere')}</span>}
        {options?.map(({ id, name }) => (
          <Checkbox
            key={id}
            size="sm"
            label={name}
            checked={chosen.includes(id)}
            onChange={event =>
              onChange(
                event.currentTarget.checked
                  ? [...chosen, id].toSorted((one, other) => one - other)
                  : chosen.filter(one => one !== id)
              )
            }
          />
        ))}
      </div>
    </fieldset>
  )
}

/** The chosen names, read-only; `hint` says where they are edited. */
export function Chosen({ label, hint, names }: { label: string; hint: string; names: readonly string[] }) {
  return (
    <section aria-label={label}>
      <h4>{label}</h4>
      <p className="dim size-table" style={{ marginBottom: '0.25rem' }}>
        {hint}
      </p>
      <p>{names.length > 0 ? names.join(', ') : '–'}</p>
    </section>
  )
}
