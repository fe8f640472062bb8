import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { ApiError } from '../../api/client.ts'
import { read } from '../../api/query.ts'
import { inventory } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { failureText } from '../../i18n/failures.ts'
import { money } from '../../kit/money.ts'
import { useSettled, type PlanProps } from '../kit/index.ts'
import classes from './rules.module.css'

/** Fills in the platform's price of the entered variant, or says why it cannot be sold. */
export function PlatformPrice({ values, row, set }: PlanProps) {
  const t = useT()
  const variant = useSettled((values['shopify_variant_id'] ?? '').trim())
  const isAsked = /^\d{1,20}$/.test(variant) && variant !== row?.['shopify_variant_id']
  const query = { shopify_variant_id: variant, ...(row ? { id: row.id } : {}) }
  const { data, error } = useQuery({ ...read(inventory.platformVariant, { query }), enabled: isAsked })
  const price = (isAsked && data?.price) || ''
  useEffect(() => {
    if (price !== '') set('price', price)
    // oxlint-disable-next-line react/exhaustive-deps -- once for each price that is read
  }, [price])
  if (!isAsked) return null
  if (error instanceof ApiError) return <p className={classes.warn}>{failureText(error)}</p>
  return price === '' ? null : <p>{t('rules.platformPrice', { price: money(price) })}</p>
}
