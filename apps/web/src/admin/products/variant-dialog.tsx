import type { AddressFamily, ServerGroup, Variant } from '@netlet/contract'
import { Button, Checkbox, NativeSelect, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useEffect } from 'react'
import { useT } from '../../i18n/admin.ts'
import { Dialog } from '../../kit/dialog.tsx'
import { useFormDraft } from '../../kit/draft.ts'
import { rules } from '../../kit/form.ts'
import { useLeaveGuard } from '../../kit/leave-guard.ts'
import { money } from '../../kit/money.ts'
import { numberText } from '../../kit/number.ts'
import { VariantForm } from '../../kit/schemas.ts'
import { PriceChoices } from '../price-drift/choices.tsx'
import { sentVariant, type VariantDraft } from './draft.ts'
import { GroupPlan, type Source } from './group-plan.tsx'
import classes from './products.module.css'
import { gridStyle } from '../../kit/grid-style.ts'

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
