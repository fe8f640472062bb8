import '../../kit/styles/forms.ts'
import type { AddressFamily, Product, RuleStock, VariantInfo } from '@netlet/contract'
import { Button, Checkbox, Skeleton, TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { queryClient, read } from '../../api/query.ts'
import { catalog } from '../../api/routes.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { useT as useShopT } from '../../i18n/index.ts'
import { failureText } from '../../i18n/failures.ts'
import { useT } from '../../i18n/product.ts'
import { useNames } from '../../i18n/names.ts'
import { Dialog } from '../../kit/dialog.tsx'
import { passFocus } from '../../kit/focus-return.ts'
import { money, numberText } from '../../kit/money.ts'
import { EmptyState, ErrorState } from '../../kit/states.tsx'
import { Stock } from '../stock.tsx'
import { type Options, selectionOf, withRules } from './choice.ts'
import { shortRules } from './use-purchase.ts'
import classes from './acl-dialog.module.css'

type Props = {
  product: Product
  options: Options
  basePrice: string
  family: AddressFamily
  /** Addresses per block. A rule with fewer is sold out for this plan. */
  step: number
  /** The wanted number of addresses. Rules with fewer say so. */
  quantity: number
  chosen: number[]
  onClose: () => void
  onConfirmed: (rules: number[], info: VariantInfo) => void
}

/** The access rules of a plan with prices and stock. Confirm asks for the price of the selection. */
export function AclDialog({
  product,
  options,
  basePrice,
  family,
  step,
  quantity,
  chosen,
  onClose,
  onConfirmed
}: Props) {
  const t = useT()
  const names = useNames()
  const shopT = useShopT()
  const [selected, setSelected] = useState(chosen)
  const [search, setSearch] = useState('')
  const field = useRef<HTMLInputElement>(null)
  const [problem, setProblem] = useState<string | null>(null)
  // The page has loaded it too. Confirm checks again on the server.
  const { data, isPending, error, refetch } = useQuery(
    read(catalog.ruleStock, { body: { product_id: product.id, option_selected: options } })
  )
  const available = data?.filter(rule => rule.stock >= step) ?? []
  const picked = available.filter(rule => selected.includes(rule.acl_id))
  const short = picked.filter(rule => rule.stock < quantity)
  const wanted = search.trim().toLowerCase()
  const shown = data?.filter(
    rule =>
      [rule.acl_name, names.rule(rule)].some(name => name.toLowerCase().includes(wanted)) ||
      rule.domains.some(domain => domain.includes(wanted))
  )

  const check = useMutation({
    mutationFn: (ids: number[]) =>
      queryClient.fetchQuery({ ...read(catalog.variantInfo, selectionOf(product, options, ids)), staleTime: 0 }),
    onSuccess: (info, ids) => {
      if (info.stock >= step) return onConfirmed(ids, info)
      setProblem(t('acl.notTogether'))
      void refetch()
    },
    onError: failure => {
      setProblem(failureText(failure))
      void refetch()
    }
  })
  const confirm = () => {
    if (picked.length === 0) return setProblem(t('acl.selectOne'))
    setProblem(null)
    check.mutate(picked.map(rule => rule.acl_id))
  }
  const select = (ids: number[]) => {
    setProblem(null)
    setSelected(ids)
  }
  const toggle = (id: number) => select(selected.includes(id) ? selected.filter(one => one !== id) : [...selected, id])

  return (
    <Dialog onClose={onClose} title={t('acl.title')} size="lg">
      <p className="dim">{t('acl.explain')}</p>
      {family === 'ipv6' && <p className="dim">{t('acl.ipv6')}</p>}
      <TextInput
        ref={field}
        mt="md"
        type="search"
        aria-label={t('acl.search')}
        placeholder={t('acl.search')}
        leftSection={<IconSearch size={16} aria-hidden />}
        value={search}
        onChange={event => setSearch(event.currentTarget.value)}
        data-autofocus
      />
      <div className={classes.list} aria-busy={isPending} tabIndex={0} role="group" aria-label={t('acl.title')}>
        {error && !data ? (
          <ErrorState error={error} onRetry={() => void refetch()} />
        ) : isPending ? (
          [1, 2, 3, 4, 5].map(key => <Skeleton key={key} height={54} mb={6} />)
        ) : shown?.length === 0 ? (
          <NoRules
            onClear={
              wanted
                ? () => {
                    passFocus(field.current)
                    setSearch('')
                  }
                : undefined
            }
          />
        ) : (
          shown?.map(rule => (
            <Rule
              key={rule.acl_id}
              rule={rule}
              soldOut={rule.stock < step}
              quantity={quantity}
              checked={selected.includes(rule.acl_id)}
              onToggle={() => toggle(rule.acl_id)}
            />
          ))
        )}
      </div>
      <div className={classes.said}>
        {problem ? (
          <p role="alert" className="problem">
            {problem}
          </p>
        ) : (
          short.length > 0 && (
            <p role="status" className="caution">
              {t('acl.shortFor', { quantity: numberText(quantity), rules: shortRules(t, short, names) })}
            </p>
          )
        )}
      </div>
      <div className="row between" style={{ gap: '1rem', marginTop: '1rem' }}>
        <p aria-live="polite">
          <span className="dim">{t('acl.total', { count: picked.length })}</span>{' '}
          <strong className="num">{money(withRules(basePrice, picked))}</strong>
        </p>
        <div className={classes.actions}>
          <Button variant="default" onClick={() => select([])} disabled={selected.length === 0}>
            {shopT('reset')}
          </Button>
          <Button loading={check.isPending} onClick={confirm}>
            {shopT('confirm')}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}

/** `onClear`: a search found none; without it there are none at all. */
function NoRules({ onClear }: { onClear: (() => void) | undefined }) {
  const t = useT()
  if (!onClear) return <EmptyState compact title={t('acl.empty')} body={t('acl.emptyHint')} />
  return (
    <EmptyState compact title={t('acl.none')} body={t('acl.noneHint')}>
      <Button variant="default" onClick={onClear}>
        {t('acl.clear')}
      </Button>
    </EmptyState>
  )
}

type RuleProps = { rule: RuleStock; soldOut: boolean; quantity: number; checked: boolean; onToggle: () => void }

function Rule({ rule, soldOut, quantity, checked, onToggle }: RuleProps) {
  const t = useT()
  const names = useNames()
  const more = rule.domains.length - 3
  return (
    <Checkbox
      className={classes.rule}
      checked={checked && !soldOut}
      disabled={soldOut}
      onChange={onToggle}
      label={
        <span className={classes.ruleText}>
          <span>
            <strong>{names.rule(rule)}</strong>
            <span className={classes.domains}>
              {rule.domains.slice(0, 3).join(', ')}
              {more > 0 && ` ${t('acl.more', { count: more })}`}
            </span>
          </span>
          <span className={classes.ruleFacts}>
            <span className="num">+{money(rule.price)}</span>
            {!soldOut && rule.stock < quantity ? (
              <span className={classes.fewer}>
                {t('acl.fewer', { stock: numberText(rule.stock), quantity: numberText(quantity) })}
              </span>
            ) : (
              <Stock count={soldOut ? 0 : rule.stock} />
            )}
          </span>
        </span>
      }
    />
  )
}
