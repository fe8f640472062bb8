import { pageAt } from '@netlet/contract/pages'
import { useQuery } from '@tanstack/react-query'
import { Link, useSearchParams } from 'react-router'
import { read } from '../../api/query.ts'
import { catalog } from '../../api/routes.ts'
import { useT } from '../../i18n/landing.ts'
import { useNames } from '../../i18n/names.ts'
import { readChoice } from './choice.ts'

type To = { collection?: number | undefined; id?: number }

/** Returns a function for the path of a product or collection that keeps the selected access rules. */
export function useProductPath(): (to: To) => string {
  const [query] = useSearchParams()
  const { rules } = readChoice(query)
  return ({ collection, id }) => {
    const parts = [
      collection && `parId=${collection}`,
      id && `id=${id}`,
      rules.length > 0 && `acl=${rules.join(',')}`
    ].filter(Boolean)
    return parts.length > 0 ? `${pageAt('product')}?${parts.join('&')}` : pageAt('product')
  }
}

/** Shows above the products which rules are selected, with a button to clear them. */
export function AskedRules({ collection }: { collection: number | undefined }) {
  const t = useT()
  const { rule: nameOf } = useNames()
  const [query] = useSearchParams()
  const { rules } = readChoice(query)
  const { data } = useQuery({ ...read(catalog.rules), staleTime: 60_000, enabled: rules.length > 0 })
  const names = data?.filter(rule => rules.includes(rule.acl_id)).map(nameOf)
  if (rules.length === 0 || names?.length === 0) return null
  return (
    <p style={{ minHeight: '1.25rem', marginBottom: '1.25rem' }}>
      {names && (
        <>
          {t('uses.chosen', { names: names.join(', ') })}{' '}
          <Link to={collection ? `${pageAt('product')}?parId=${collection}` : pageAt('product')}>
            {t('uses.without')}
          </Link>
        </>
      )}
    </p>
  )
}
