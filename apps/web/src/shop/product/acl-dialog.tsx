import '../../kit/styles/forms.ts'
import '../../kit/styles/overlays.ts'
import type { AddressFamily, Product, RuleStock, VariantInfo } from '@netlet/contract'
import { Button, Checkbox, Modal, Skeleton, TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { call } from '../../api/client.ts'
import { read } from '../../api/query.ts'
import { catalog } from '../../api/routes.ts'
import { useMutation } from '../../api/use-mutation.ts'
import { useT } from '../../i18n/index.ts'
import { failureText } from '../../i18n/failures.ts'
import { money } from '../../kit/money.ts'
import { notify } from '../../kit/notify.ts'
import { EmptyState, ErrorState } from '../../kit/states.tsx'
import { Stock } from '../stock.tsx'
import { withRules, type Options } from './choice.ts'
import classes from './acl-dialog.module.css'

type Props = {
  product: Product
  options: Options
  basePrice: string
  family: AddressFamily
  /** Addresses in a block: a rule with fewer is sold out for this plan. */
  step: number
  chosen: number[]
  onClose: () => void
  onConfirmed: (rules: number[], info: VariantInfo) => void
}

/** The access rules of a plan with their prices and stock. Confirm prices the selection. */
export function AclDialog({ product, options, basePrice, family, step, chosen, onClose, onConfirmed }: Props) {
  const t = useT()
  const [selected, setSelected] = useState(chosen)
  const [search, setSearch] = useState('')
  const { data, isPending, error, refetch } = useQuery({
    ...read(catalog.ruleStock, { body: { product_id: product.id, option_selected: options } }),
    staleTime: 5_000
  })
  const available = data?.filter(rule => rule.stock >= step) ?? []
  const picked = available.filter(rule => selected.includes(rule.acl_id))
  const wanted = search.trim().toLowerCase()
  const shown = data?.filter(
    rule => rule.acl_name.toLowerCase().includes(wanted) || rule.domains.some(domain => domain.includes(wanted))
  )

  const check = useMutation({
    mutationFn: (ids: number[]) =>
      call(catalog.variantInfo, {
        body: { product_id: product.id, option_selected: { ...options, acl_selected: ids } }
      }),
    onSuccess: (info, ids) => onConfirmed(ids, info),
    onError: failure => {
      notify('bad', failureText(failure))
      void refetch()
    }
  })
  const confirm = () => {
    if (picked.length === 0) return notify('bad', t('acl.selectOne'))
    check.mutate(picked.map(rule => rule.acl_id))
  }
  const toggle = (id: number) =>
    setSelected(selected.includes(id) ? selected.filter(one => one !== id) : [...selected, id])

  return (
    <Modal opened onClose={onClose} title={t('acl.title')} size="lg" closeButtonProps={{ 'aria-label': t('close') }}>
      <p className="dim">{t('acl.explain')}</p>
      {family === 'ipv6' && <p className="dim">{t('acl.ipv6')}</p>}
      <TextInput
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
          <EmptyState title={t('acl.none')} />
        ) : (
          shown?.map(rule => (
            <Rule
              key={rule.acl_id}
              rule={rule}
              soldOut={rule.stock < step}
              checked={selected.includes(rule.acl_id)}
              onToggle={() => toggle(rule.acl_id)}
            />
          ))
        )}
      </div>
      <div className={classes.foot}>
        <p aria-live="polite">
          <span className="dim">{t('acl.total', { count: picked.length })}</span>{' '}
          <strong className="num">{money(withRules(basePrice, picked))}</strong>
        </p>
        <div className={classes.actions}>
          <Button variant="default" onClick={() => setSelected([])} disabled={selected.length === 0}>
            {t('reset')}
          </Button>
          <Button loading={check.isPending} onClick={confirm}>
            {t('confirm')}
          </Button>
        </div>
      </div>
    </Modal>
  )
}

type RuleProps = { rule: RuleStock; soldOut: boolean; checked: boolean; onToggle: () => void }

function Rule({ rule, soldOut, checked, onToggle }: RuleProps) {
  const t = useT()
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
            <strong>{rule.acl_name}</strong>
            <span className={classes.domains}>
              {rule.domains.slice(0, 3).join(', ')}
              {more > 0 && ` ${t('acl.more', { count: more })}`}
            </span>
          </span>
          <span className={classes.ruleFacts}>
            <span className="num">+{money(rule.price)}</span>
            <Stock count={soldOut ? 0 : rule.stock} />
          </span>
        </span>
      }
    />
  )
}
