import { Button, Checkbox, NativeSelect, Skeleton, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import type { AddressFamily, GroupStock, ServerGroup, Variant } from '@netlet/contract'
import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { read } from '../../api/query.ts'
import { catalog } from '../../api/routes.ts'
import { useT } from '../../i18n/admin.ts'
import { Dialog } from '../../kit/dialog.tsx'
import { useFormDraft } from '../../kit/draft.ts'
import { rules } from '../../kit/form.ts'
import { gridStyle } from '../../kit/grid-style.ts'
import { useLeaveGuard } from '../../kit/leave-guard.ts'
import { money, numberText } from '../../kit/money.ts'
import { VariantForm } from '../../kit/schemas.ts'
import { ErrorState } from '../../kit/states.tsx'
import { PriceChoices } from '../price-drift/choices.tsx'
import { sentVariant, type VariantDraft } from './draft.ts'
import classes from './products.module.css'

/** The limits of a plan, in the contract's order. */
const PLAN_LIMITS = ['traffic_gb', 'mbps', 'connections', 'connections_per_second'] as const
const STEPS = [1, 8, 16, 32, 64, 128, 256].map(String)
const check = rules(VariantForm)

const FAMILIES = ['ipv4', 'ipv6'] as const
const EGRESS = ['fixed', 'request', 'session'] as const

const sourceOf = (group: number | null, step: string, family: AddressFamily): Source =>
  group === null ? null : { group, step: Number(step), family }

type Props = {
  variant: VariantDraft
  /** The saved variant; undefined if it is new. */
  saved: Variant | undefined
  groups: readonly ServerGroup[]
  /** The number of its orders that have not ended. */
  live: number
  /** The server's errors for its fields. */
  errors: Record<string, string>
  /** The product has unsaved changes. Resolving a price applies to the saved product. */
  unsaved: boolean
  onDirty: (dirty: boolean) => void
  onClose: () => void
  onApply: (variant: VariantDraft) => void
}

/** Edits a variant of the open product. Saving the product saves it. */
export function VariantDialog(props: Props) {
  const { variant, saved, groups, live, errors, unsaved, onDirty, onClose, onApply } = props
  const t = useT()
  const form = useForm<VariantDraft>({
    mode: 'controlled',
    initialValues: variant,
    initialErrors: errors,
    validate: values => check(sentVariant(values))
  })
  const dirty = form.isDirty()
  const guard = useLeaveGuard(dirty, {
    param: { name: 'variant', value: variant.shopify_variant_id },
    keepsDraft: true
  })
  const version = JSON.stringify(variant)
  useFormDraft(`variant-${variant.shopify_variant_id}`, form, { version, isUnsaved: guard.isUnsaved })
  useEffect(() => {
    onDirty(dirty)
    return () => onDirty(false)
  }, [dirty, onDirty])
  const leave = () => void guard.mayLeave().then(yes => yes && onClose())
  const apply = (values: VariantDraft) => {
    guard.release()
    onApply(values)
  }
  const { server_group: group, cart_step: step, address_family: family } = form.values
  const before = saved ? sourceOf(saved.server_group?.id ?? null, String(saved.cart_step), saved.address_family) : null
  const after = sourceOf(group, step, family)
  const moves = JSON.stringify(before) !== JSON.stringify(after)
  return (
    <Dialog onClose={leave} title={variant.variant_name || t('products.variant')} size="lg">
      <form className="stack" noValidate onSubmit={form.onSubmit(apply)}>
        <div className="bottom" style={gridStyle('14rem', '0.9rem 1.25rem', 'auto-fit')}>
          <TextInput
            label={t('products.variant_desc')}
            autoComplete="off"
            data-autofocus
            {...form.getInputProps('variant_desc')}
          />
          <TextInput
            label={t('products.stock')}
            readOnly
            variant="filled"
            value={saved ? numberText(saved.variant_stock) : '–'}
          />
          {saved ? (
            <TextInput
              label={t('products.cart_step')}
              description={t('products.stepFixed')}
              readOnly
              variant="filled"
              value={step}
            />
          ) : (
            <NativeSelect label={t('products.cart_step')} data={STEPS} {...form.getInputProps('cart_step')} />
          )}
          <TextInput
            label={t('products.price')}
            description={t(saved ? 'products.priceHint' : 'products.priceFixed')}
            inputMode="decimal"
            leftSection="$"
            {...(saved ? { withAsterisk: true } : { readOnly: true, variant: 'filled' })}
            {...form.getInputProps('variant_price')}
          />
          <TextInput
            label={t('products.proxy_time')}
            inputMode="numeric"
            autoComplete="off"
            withAsterisk
            {...form.getInputProps('proxy_time')}
          />
          <NativeSelect
            label={t('products.server_group')}
            data={[
              { value: '', label: t('products.nowhere') },
              ...groups.map(({ id, name }) => ({ value: String(id), label: name }))
            ]}
            {...form.getInputProps('server_group')}
            value={group === null ? '' : String(group)}
            onChange={event =>
              form.setFieldValue('server_group', event.currentTarget.value ? Number(event.currentTarget.value) : null)
            }
          />
          <NativeSelect
            label={t('products.address_family')}
            description={t('products.familyHint')}
            data={FAMILIES.map(value => ({ value, label: t(`products.family.${value}`) }))}
            {...form.getInputProps('address_family')}
            onChange={event => {
              const next = FAMILIES.find(value => value === event.currentTarget.value) ?? 'ipv4'
              form.setFieldValue('address_family', next)
              // IPv4 has no other addresses to leave from.
              if (next === 'ipv4') form.setFieldValue('egress', 'fixed')
            }}
          />
          {family === 'ipv6' && (
            <NativeSelect
              label={t('products.egress')}
              description={t('products.egressHint')}
              data={EGRESS.map(value => ({ value, label: t(`products.egress.${value}`) }))}
              {...form.getInputProps('egress')}
            />
          )}
          {PLAN_LIMITS.map(name => (
            <TextInput
              key={name}
              label={t(`products.${name}`)}
              inputMode="numeric"
              autoComplete="off"
              {...form.getInputProps(name)}
            />
          ))}
          <p className="dim">{t('products.limitsHint')}</p>
          <Checkbox label={t('products.is_active')} {...form.getInputProps('is_active', { type: 'checkbox' })} />
        </div>
        {saved?.price_drift && (
          <section className={`size-body ${classes.drifts}`} aria-label={t('health.drift.title')}>
            <p>
              {t('products.driftOf', {
                name: saved.variant_name,
                ours: money(saved.variant_price),
                theirs: money(saved.price_drift.platform_price)
              })}
            </p>
            <PriceChoices
              drift={{ ...saved.price_drift, name: saved.variant_name, price: saved.variant_price }}
              whyNot={unsaved ? t('products.saveFirst') : undefined}
              onDone={onClose}
            />
          </section>
        )}
        {moves && <GroupPlan before={before} after={after} live={live} />}
        <div className="row to-end">
          <Button variant="default" onClick={leave}>
            {t('form.cancel')}
          </Button>
          <Button type="submit">{t('products.apply')}</Button>
        </div>
      </form>
    </Dialog>
  )
}

/** The group a variant sells from, its block size and family; null: none. */
type Source = { group: number; step: number; family: AddressFamily } | null

const NOTHING: GroupStock = { max_step: 0, stock: 0, rules: [] }

/** What a group has to sell; undefined while loading. */
function useGroupStock(source: Source) {
  const query = useQuery({
    ...read(catalog.groupStock, {
      query: {
        server_group: source?.group ?? 0,
        cart_step: source?.step ?? 1,
        address_family: source?.family ?? 'ipv4'
      }
    }),
    enabled: source !== null
  })
  return { ...query, data: source === null ? NOTHING : query.data }
}

/** What another group or block size does to a variant's stock, rule by rule, before it is saved. */
function GroupPlan({ before, after, live }: { before: Source; after: Source; live: number }) {
  const t = useT()
  const now = useGroupStock(before)
  const then = useGroupStock(after)
  const failed = now.error ?? then.error
  if (failed) return <ErrorState error={failed} onRetry={() => void Promise.all([now.refetch(), then.refetch()])} />
  if (!now.data || !then.data) return <Skeleton height={90} aria-label={t('products.plan')} />
  const nowBy = new Map(now.data.rules.map(rule => [rule.acl_id, rule]))
  const thenBy = new Map(then.data.rules.map(rule => [rule.acl_id, rule]))
  const rules = [...new Map([...nowBy, ...thenBy]).values()]
  return (
    <section className="stack" aria-label={t('products.plan')}>
      <h3 className="size-lead">{t('products.plan')}</h3>
      {after && then.data.max_step < after.step && (
        <p className="notice warn" role="status">
          {t('products.tooLarge', { step: after.step, largest: then.data.max_step })}
        </p>
      )}
      <div style={{ maxHeight: '13rem', overflow: 'auto' }} tabIndex={0} role="group" aria-label={t('products.plan')}>
        <table className={classes.plan}>
          <thead>
            <tr>
              <th scope="col">{t('products.rule')}</th>
              <th scope="col">{t('products.now')}</th>
              <th scope="col">{t('products.then')}</th>
            </tr>
          </thead>
          <tbody>
            <Line name={t('products.mostStock')} now={now.data.stock} then={then.data.stock} />
            {rules.map(({ acl_id, acl_name }) => (
              <Line
                key={acl_id}
                name={acl_name}
                now={nowBy.get(acl_id)?.stock ?? 0}
                then={thenBy.get(acl_id)?.stock ?? 0}
              />
            ))}
          </tbody>
        </table>
      </div>
      {live > 0 && <p className="dim">{t('products.keep', { count: live })}</p>}
    </section>
  )
}

const Line = ({ name, now, then }: { name: string; now: number; then: number }) => (
  <tr data-less={then < now}>
    <th scope="row">{name}</th>
    <td>{numberText(now)}</td>
    <td>{numberText(then)}</td>
  </tr>
)
